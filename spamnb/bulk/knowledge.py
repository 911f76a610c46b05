"""What a model knows, at a glance."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bulk.calibration import has_spam
from spamnb.bulk.columns import Columns
from spamnb.bulk.scoring import Table, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.model import Model
    from spamnb.view import View


ENOUGH = 200  # messages of each label; with fewer, more would help


def missing(labels: Sequence[str], messages: Sequence[int]) -> list[str]:
    """What a model lacks to be well trained."""
    return [
        f"{ENOUGH - count} more {label} would help"
        for label, count in zip(labels, messages, strict=True)
        if count < ENOUGH
    ]


@dataclass(frozen=True)
class Telling:
    """A token that speaks for a label: its weight is the log of how much likelier than in any other."""

    token: str
    messages: list[int]
    weight: float


@dataclass(frozen=True)
class Knowledge:
    path: str
    size: int
    labels: list[str]
    messages: list[int]
    tokens: list[int]  # different ones in each label
    occurrences: list[int]
    vocabulary: int
    pairs: int
    journal: int
    settings: dict[str, Any]
    cutoffs: list[float] | None
    ham_loss: float  # that they were set for
    missing: list[str]  # to be well trained
    telling: dict[str, list[Telling]]

    @classmethod
    def of(cls, model: Model, top: int) -> Knowledge:
        stored = model.stored
        columns = Columns.load(stored)
        settings = model.settings.as_map()
        settings["stop_words"] = len(settings["stop_words"])
        return cls(
            stored.path,
            os.path.getsize(stored.path),
            list(stored.labels),
            list(columns.messages),
            (columns.occurring > 0).sum(axis=1).tolist(),
            columns.occurring.sum(axis=1).tolist(),
            stored.vocabulary,
            stored.pair_vocabulary,
            len(stored.journal.entries),
            settings,
            [model.cutoffs.ham, model.cutoffs.spam] if model.cutoffs and has_spam(stored.labels) else None,
            stored.head["ham_loss"],
            missing(stored.labels, stored.messages),
            {label: telling(model, columns, place, top) for place, label in enumerate(stored.labels)},
        )

    def as_map(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def settings_line(self) -> str:
        on = [f"{name.replace('_', ' ')} {value}" for name, value in self.settings.items() if value]
        return ", ".join(on)


def telling(model: Model, columns: Columns, place: int, top: int) -> list[Telling]:
    """The tokens of a model that tell most for a label."""
    table = Table.whole(model.view, columns.containing, columns.occurring, columns.messages, columns.numbers)
    return most_telling(model.view, table, columns.tokens, place, top)


def most_telling(
    view: View, table: Table, texts: Callable[[Sequence[int]], list[str]], place: int, top: int
) -> list[Telling]:
    """The tokens that tell most for a label; of equal weight, the most frequent first."""
    if not table.vocabulary or view.event == "gaussian":
        return []
    weights = Weights.of(view, table)
    logs = np.where(weights.zeros > 0, -np.inf, weights.finite)
    with np.errstate(invalid="ignore"):
        ahead = np.nan_to_num(logs[place] - np.delete(logs, place, axis=0).max(axis=0))
    # Weight times the root of the messages: a token seen twice is no headline.
    rank = ahead * np.sqrt(table.containing[place]) * table.occurring.any(axis=0)
    chosen = np.argsort(-rank, kind="stable")[:top]
    chosen = chosen[ahead[chosen] > 0].tolist()
    return [
        Telling(text, table.containing[:, at].tolist(), float(min(ahead[at], 99.0)))
        for text, at in zip(texts(chosen), chosen, strict=True)
    ]
