"""The plan of a training, checked before any mail is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spamnb.bayes.verdict import HAM_LOSS
from spamnb.bayes.view import View
from spamnb.core.native import LearnedMessages
from spamnb.errors import DataError, NoModel, SpamnbError, UsageError
from spamnb.labels import LABELS, MAX_LABELS
from spamnb.model import DEFAULT_VIEW, check_base, settings_of, view_of
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel, load_learned


@dataclass(frozen=True)
class About:
    """How a model reads and judges mail: settings, view, share of ham that may be lost, and base."""

    settings: Settings
    view: View = DEFAULT_VIEW
    ham_loss: float = HAM_LOSS
    base: Mapping[str, Any] | None = None  # the shared model below it: its path

    @classmethod
    def of(cls, stored: StoredModel) -> About:
        head = stored.head
        return cls(settings_of(stored), view_of(stored), head["ham_loss"], head.get("base"))

    def as_map(self) -> dict[str, Any]:
        found = {"settings": self.settings.as_map(), "view": self.view.as_map(), "ham_loss": self.ham_loss}
        return found | ({"base": dict(self.base)} if self.base else {})


@dataclass(frozen=True)
class Plan:
    """The current model, from which a training starts, and the labels and settings of the model to write."""

    replaced: StoredModel | None  # the model whose file is replaced, if any
    stored: StoredModel | None  # the model to add counts to; None for a new model
    labels: list[str]
    about: About

    @cached_property
    def learned(self) -> LearnedMessages:
        """The messages that the current model has learned."""
        return load_learned(self.stored) if self.stored else LearnedMessages()

    @property
    def new_labels(self) -> list[str]:
        """Labels, other than ham and spam, that are new to a model that has already learned mail."""
        before = self.stored.labels if self.stored and any(self.stored.messages) else self.labels
        return [label for label in self.labels if label not in before and label not in LABELS]

    def learned_hashes(self, label: str) -> Any:
        """Return the sorted hashes of the messages already learned under a label; None for a new label."""
        if self.stored is None or label not in self.stored.labels:
            return None
        return memoryview(self.learned.hashes_of(self.stored.labels.index(label))).cast("Q")

    @property
    def changes_model(self) -> bool:
        """Whether the model must be written even if no mail is learned."""
        before = self.stored and About.of(self.stored)
        return not before or (before.ham_loss, before.base) != (self.about.ham_loss, self.about.base)


def plan(
    path: str,
    given: Sequence[str],
    wanted: Mapping[str, Any],
    view: View | None,
    ham_loss: float | None,
    base: str | None,
    fresh: bool,
    forget: bool,
) -> Plan:
    """Open the current model, check that the options fit, and plan the new one; `given`: labels of mail."""
    beneath = StoredModel.open(base) if base else None
    replaced = open_if_readable(path) if fresh else open_if_there(path)
    stored = None if fresh else replaced
    if stored is None:
        labels = list(LABELS if set(given) <= set(LABELS) else given)
        before = About(Settings(**wanted), view or DEFAULT_VIEW)
        before.settings.words()  # an unknown language is an error
    else:
        labels = list(dict.fromkeys([*stored.labels, *(() if forget else given)]))
        before = About.of(stored)
        refuse_other_settings(stored, before, wanted, view)
    about_base = None if base == "" else before.base
    if beneath:
        about_base = new_base(path, beneath, labels, before.settings, before.view)
    if len(labels) > MAX_LABELS:
        raise UsageError(f"too many labels: {len(labels)}; a model can have at most {MAX_LABELS}")
    loss = before.ham_loss if ham_loss is None else ham_loss
    return Plan(replaced, stored, labels, About(before.settings, before.view, loss, about_base))


def refuse_other_settings(
    stored: StoredModel, before: About, wanted: Mapping[str, Any], view: View | None
) -> None:
    """Raise an error if the settings `wanted`, or the view, differ from those of the existing model."""
    other = [name for name, value in wanted.items() if getattr(before.settings, name) != value]
    if view and view.as_map() != before.view.as_map():
        other.append("view")
    if other:
        raise DataError(
            f"{stored.path}: was trained with other settings ({', '.join(other)}); omit them, or add --fresh"
        )


def new_base(
    path: str, base: StoredModel, labels: Sequence[str], settings: Settings, view: View
) -> dict[str, Any]:
    """Return what a model stores about its base; raise an error if the model cannot have this base."""
    if not view.has_cutoffs:
        raise UsageError("a model with a base needs a view with cutoffs; use the default view")
    check_base(path, labels, settings, base)
    return {"path": base.path}


def open_if_there(path: str) -> StoredModel | None:
    """Open a model; return None if it is missing."""
    try:
        return StoredModel.open(path)
    except NoModel:
        return None


def open_if_readable(path: str) -> StoredModel | None:
    """Open a model that will be replaced; return None if it is missing or cannot be read."""
    try:
        return open_if_there(path)
    except SpamnbError:
        return None
