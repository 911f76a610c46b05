"""Compare two models: weights of tokens, and verdicts on mail. `here` is one of them, `there` the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.errors import DataError
from spamnb.inspection.model_summary import indices_of_highest, token_leads
from spamnb.inspection.token_lookup import by_label
from spamnb.mailboxes.skipped import Unreadable
from spamnb.model import Model
from spamnb.tables.vocabulary import Vocabulary
from spamnb.workers.local import LocalPool

Step = Callable[[int, int], object]  # takes the bytes and the messages that were judged


@dataclass(frozen=True)
class MovedToken:
    """A token that speaks more for a label there than here; what a model does not know has no weight."""

    token: str
    label: str
    here: float
    there: float
    messages_here: dict[str, int]
    messages_there: dict[str, int]


@dataclass(frozen=True)
class ChangedVerdict:
    """A message that two models judge differently."""

    path: str
    index: int | None
    here: str
    there: str
    score_here: float
    score_there: float


@dataclass(frozen=True)
class ModelDifference:
    """Settings, tokens and verdicts in which two models differ."""

    here: str
    there: str
    settings: dict[str, list[Any]]  # name: its values here and there, where they differ
    moved: list[MovedToken]
    messages: int  # judged by both
    changed: list[ChangedVerdict]


def compare_models(
    here: Model, there: Model, top: int, mail: Sequence[str], jobs: int, step: Step
) -> tuple[ModelDifference, list[Unreadable]]:
    """Compare two models, also on mail, if there is some; returns also the mail that could not be read."""
    labels = [label for label in here.labels if label in there.labels]
    if len(labels) < 2:
        raise DataError(f"{there.stored.path}: has fewer than two labels in common with {here.stored.path}")
    moved = most_moved_tokens(here, there, labels, top)
    messages, changed, unreadable = changed_verdicts(here, there, mail, jobs, step) if mail else (0, [], [])
    paths = here.stored.path, there.stored.path
    return ModelDifference(*paths, different_settings(here, there), moved, messages, changed), unreadable


def different_settings(here: Model, there: Model) -> dict[str, list[Any]]:
    """The settings that differ, each with both values."""

    def settings_of(model: Model) -> dict[str, Any]:
        cutoffs = [model.cutoffs.ham, model.cutoffs.spam] if model.cutoffs else None
        counted = {"labels": model.labels, "messages": model.stored.messages, "cutoffs": cutoffs}
        return {**counted, **model.settings.as_map(), **model.view.as_map()}

    first, second = settings_of(here), settings_of(there)
    return {name: [first[name], second[name]] for name in first if first[name] != second[name]}


def most_moved_tokens(here: Model, there: Model, labels: Sequence[str], top: int) -> list[MovedToken]:
    """The tokens whose weights differ most, times the root of their messages: one seen twice counts less."""
    models = here.alone(), there.alone()
    vocabularies = [Vocabulary(model.stored) for model in models]
    fingerprints = [block.fingerprints for vocabulary in vocabularies for block in vocabulary.blocks()]
    keys = np.unique(np.concatenate([np.empty(0, np.uint64), *fingerprints]))
    leads = np.zeros((2, len(labels), len(keys)), np.float32)
    messages = np.zeros((2, len(keys)), np.int32)  # of the label with the most of them
    for side, model in enumerate(models):
        chosen = [model.labels.index(label) for label in labels]
        for block in vocabularies[side].blocks():
            at = np.searchsorted(keys, block.fingerprints)
            messages[side, at] = block.message_counts.max(axis=0)
            lead = token_leads(model.classifier, block.message_counts, block.occurrence_counts)[chosen]
            leads[side][:, at] = lead * (messages[side, at] > 0)
    moves = leads[1] - leads[0]
    rank = np.abs(moves).max(axis=0) * np.sqrt(messages.max(axis=0))
    found = []
    for at in indices_of_highest(rank, top).tolist():
        if not rank[at]:
            break
        key, vocabulary = int(keys[at]), vocabularies[0 if messages[0, at] else 1]
        (token,) = vocabulary.tokens([vocabulary.place(key)])
        label, counts = int(moves[:, at].argmax()), [messages_of(model, key) for model in models]
        found.append(MovedToken(token, labels[label], *leads[:, label, at].tolist(), *counts))
    return found


def messages_of(model: Model, fingerprint: int) -> dict[str, int]:
    label_count = len(model.labels)
    row = model.stored.rows([fingerprint]).get(fingerprint, (0,) * label_count)
    return by_label(model, row[:label_count])


def changed_verdicts(
    here: Model, there: Model, paths: Sequence[str], jobs: int, step: Step
) -> tuple[int, list[ChangedVerdict], list[Unreadable]]:
    """Judge mail by both models: how many messages, the ones judged differently, and the unreadable ones.

    Of the changed verdicts, those whose scores are farthest apart come first.
    """
    before = {}
    unreadable: list[Unreadable] = []
    for verdicts, failed, size in LocalPool(jobs).verdicts(here, paths):
        step(size, len(verdicts))
        before.update({(path, index): verdict for path, index, verdict, _ in verdicts})
        unreadable += failed
    changed = []
    for verdicts, _, size in LocalPool(jobs).verdicts(there, paths):
        step(size, len(verdicts))
        for path, index, now, _ in verdicts:
            then = before.get((path, index))
            if then and then.label != now.label:
                changed.append(ChangedVerdict(path, index, then.label, now.label, then.score, now.score))
    changed.sort(key=lambda verdict: -abs(verdict.score_there - verdict.score_here))
    return len(before), changed, unreadable
