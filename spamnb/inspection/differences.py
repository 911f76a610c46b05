"""What two models disagree on: weights of tokens, and verdicts on mail."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.errors import DataError
from spamnb.inspection.knowledge import highest, leads
from spamnb.tables.vocabulary import Vocabulary
from spamnb.workers.local import LocalPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.model import Model


@dataclass(frozen=True)
class Moved:
    """A token that speaks more for a label there than here; what a model does not know has no weight."""

    token: str
    label: str
    here: float
    there: float
    messages_here: dict[str, int]
    messages_there: dict[str, int]


@dataclass(frozen=True)
class Changed:
    """A message that two models judge differently."""

    path: str
    index: int | None
    here: str
    there: str
    score_here: float
    score_there: float


@dataclass(frozen=True)
class Difference:
    here: str
    there: str
    settings: dict[str, list[Any]]  # that differ, here and there
    moved: list[Moved]
    messages: int  # judged by both
    changed: list[Changed]

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


class Weighed(NamedTuple):
    """The tokens of a model in order of their fingerprints."""

    keys: Array
    places: Array
    leads: Array  # [label, token] of the labels in common
    messages: Array  # most of any label


def difference(
    here: Model, there: Model, top: int, mail: Sequence[str], jobs: int
) -> tuple[Difference, list[Unreadable]]:
    """Compare two models, also on mail, if there is some; returns also the mail that could not be read.

    Tokens of models with different keys cannot be compared.
    """
    labels = [label for label in here.labels if label in there.labels]
    if len(labels) < 2:
        raise DataError(f"{there.stored.path}: has fewer than two labels in common with {here.stored.path}")
    settings = different_settings(here, there)
    comparable = here.stored.keyed == there.stored.keyed
    moved = most_moved(here, there, labels, top) if comparable else []
    messages, changed, unreadable = changed_verdicts(here, there, mail, jobs) if mail else (0, [], [])
    found = Difference(here.stored.path, there.stored.path, settings, moved, messages, changed)
    return found, unreadable


def different_settings(here: Model, there: Model) -> dict[str, list[Any]]:
    def described(model: Model) -> dict[str, Any]:
        cutoffs = [model.cutoffs.ham, model.cutoffs.spam] if model.cutoffs else None
        counted = {"labels": model.labels, "messages": model.stored.messages, "cutoffs": cutoffs}
        return {**counted, **model.settings.as_map(), **model.view.as_map()}

    ours, theirs = described(here), described(there)
    return {name: [ours[name], theirs[name]] for name in ours if ours[name] != theirs[name]}


def most_moved(here: Model, there: Model, labels: Sequence[str], top: int) -> list[Moved]:
    """By how far times the root of the messages: a token seen twice moves nothing."""
    vocabularies = [Vocabulary(model.stored) for model in (here, there)]
    ours, theirs = (
        weighed(model, vocabulary, labels)
        for model, vocabulary in zip((here, there), vocabularies, strict=True)
    )
    keys = np.union1d(ours.keys, theirs.keys)
    before, after = spread_over(keys, ours), spread_over(keys, theirs)
    moves = after.leads - before.leads
    rank = np.abs(moves).max(axis=0) * np.sqrt(np.maximum(before.messages, after.messages))
    found = []
    for at in highest(rank, top).tolist():
        if not rank[at]:
            break
        vocabulary, place = next(
            (own, int(side.places[at]))
            for own, side in zip(vocabularies, (before, after), strict=True)
            if side.places[at] >= 0
        )
        token = vocabulary.tokens([place])[0]
        label = int(moves[:, at].argmax())
        counts = [messages_of(model, int(keys[at])) for model in (here, there)]
        found.append(
            Moved(
                token, labels[label], float(before.leads[label, at]), float(after.leads[label, at]), *counts
            )
        )
    return found


def weighed(model: Model, vocabulary: Vocabulary, labels: Sequence[str]) -> Weighed:
    chosen = [model.labels.index(label) for label in labels]
    keys, ahead, messages = [np.empty(0, np.uint64)], [np.empty((len(labels), 0))], [np.empty(0, np.int32)]
    for block in vocabulary.blocks():
        keys.append(block.keys)
        messages.append(block.message_counts.max(axis=0))
        lead = leads(model.classifier, block.message_counts, block.occurrence_counts)[chosen]
        ahead.append((lead * (messages[-1] > 0)).astype(np.float32))
    joined = np.concatenate(keys)
    order = np.argsort(joined, kind="stable")
    return Weighed(
        joined[order], order, np.concatenate(ahead, axis=1)[:, order], np.concatenate(messages)[order]
    )


def spread_over(keys: Array, own: Weighed) -> Weighed:
    """The same for more tokens; place -1 and no weight for those that are unknown."""
    at = np.searchsorted(keys, own.keys)
    places, messages = np.full(len(keys), -1), np.zeros(len(keys), np.int32)
    ahead = np.zeros((len(own.leads), len(keys)), np.float32)
    places[at], messages[at], ahead[:, at] = own.places, own.messages, own.leads
    return Weighed(keys, places, ahead, messages)


def messages_of(model: Model, number: int) -> dict[str, int]:
    many = len(model.labels)
    row = model.stored.rows([number]).get(number, (0,) * many)
    return dict(zip(model.labels, row[:many], strict=True))


def changed_verdicts(
    here: Model, there: Model, paths: Sequence[str], jobs: int
) -> tuple[int, list[Changed], list[Unreadable]]:
    """Messages judged, those judged differently, farthest first, and what could not be read."""
    before = {}
    unreadable: list[Unreadable] = []
    for verdicts, failed, _ in LocalPool(jobs).verdicts(here, paths):
        before.update({(path, index): verdict for path, index, verdict in verdicts})
        unreadable += failed
    changed = []
    for verdicts, _, _ in LocalPool(jobs).verdicts(there, paths):
        for path, index, now in verdicts:
            then = before.get((path, index))
            if then and then.label != now.label:
                changed.append(Changed(path, index, then.label, now.label, then.score, now.score))
    changed.sort(key=lambda one: -abs(one.score_there - one.score_here))
    return len(before), changed, unreadable
