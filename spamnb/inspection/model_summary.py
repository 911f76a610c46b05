"""What a model knows, read in blocks: five million tokens take the room of five."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes import layers
from spamnb.bayes.bulk_classifier import by_row, counts_for
from spamnb.bayes.cutoffs import has_spam
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import lead_of
from spamnb.bayes.view import View, prior
from spamnb.clock import DAY, today
from spamnb.core.native import Scorer
from spamnb.inspection.standing import ENOUGH, standing
from spamnb.model import Model
from spamnb.store.journal import FOLD_LIMIT
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.vocabulary import Vocabulary, check_columns

LOPSIDED = 20  # a label has too much mail from so many times that of another on
STALE = 180  # days without learning after which a model is said to be old
DOUBTFUL = 0.05  # share of its own mail that a model may judge wrong or unsure, each message left out
INFINITE = 99.0  # nats, in place of an infinite weight


@dataclass(frozen=True)
class TellingToken:
    """A token that speaks for a label: the weight is by `label_leads`."""

    token: str
    messages: list[int]
    weight: float


@dataclass(frozen=True)
class ModelSummary:
    """A model's labels, counts, settings, ages, most telling tokens, and what it lacks."""

    path: str
    size: int
    labels: list[str]
    messages: list[int]
    priors: list[float]
    tokens: list[int]  # different ones in each label
    occurrences: list[int]
    vocabulary: int
    pairs: int
    journal: int  # messages in it
    journal_size: int
    journal_limit: int  # bytes at which it is folded into the model
    settings: dict[str, Any]
    view: dict[str, Any]
    cutoffs: list[float] | None
    margin: float | None  # how far one of several labels but spam must be ahead; None with fewer
    ham_loss: float  # the share of ham that the cutoffs may lose
    last_learned: str | None  # as 2026-11-15: the last of the days on which the tokens were last seen
    standing: list[str]  # how much spam is caught and what would help, a sentence each
    telling: dict[str, list[TellingToken]]
    base: dict[str, Any] | None  # what it stands on; all else is of the model by itself

    @classmethod
    def of(cls, model: Model, top: int) -> ModelSummary:
        base = about_base(model)
        model = model.alone()
        stored = model.stored
        vocabulary = Vocabulary(stored)
        check_columns(stored, "tokens", "days")  # which `blocks` reads
        tokens_by_label = np.zeros(len(stored.labels), np.int64)
        last_day = 0
        telling = TellingTokens(model.classifier, top)
        for block in vocabulary.blocks():
            tokens_by_label += np.count_nonzero(block.occurrence_counts, axis=1)
            last_day = max(last_day, int(block.last_days.max()))
            telling.add(block.start, block.message_counts, block.occurrence_counts)
        settings = model.settings.as_map()
        settings["stop_words"] = len(settings["stop_words"])
        return cls(
            stored.path,
            os.path.getsize(stored.path),
            list(stored.labels),
            list(stored.messages),
            prior(stored.labels, stored.messages, model.view.prior),
            tokens_by_label.tolist(),
            list(stored.occurrences),
            stored.vocabulary,
            stored.pair_vocabulary,
            len(stored.journal.records),
            stored.journal.size,
            FOLD_LIMIT,
            settings,
            model.view.as_map(),
            [model.cutoffs.ham, model.cutoffs.spam] if model.cutoffs and has_spam(stored.labels) else None,
            model.cutoffs.margin if model.cutoffs and "margin" in stored.head else None,
            stored.head["ham_loss"],
            day_text(last_day) if last_day else None,
            [*standing(stored), *advice(stored, last_day)],
            telling.by_label(vocabulary.tokens),
            base,
        )


def about_base(model: Model) -> dict[str, Any] | None:
    """Tell what a model stands on, who of the two judges, and by which cutoffs if the base does."""
    if not (about := model.stored.head.get("base")):
        return None
    judges = ["model" if layer is model.stored else "base" for layer in model.layers]
    limits = [model.cutoffs.ham, model.cutoffs.spam] if model.base and model.cutoffs else None
    enough = layers.ENOUGH_ALONE if model.base and model.base.is_imported else layers.ENOUGH
    return {"path": about["path"], "judges": judges, "enough": enough, "cutoffs": limits}


def day_text(day: int) -> str:
    """Write a day, counted from 1970, as 2026-11-15."""
    return time.strftime("%Y-%m-%d", time.gmtime(DAY * day))


def advice(stored: StoredModel, last: int) -> list[str]:
    """Advice beside more mail of a label, a sentence each."""
    sentences = []
    most, fewest = max(stored.messages), min(stored.messages)
    if fewest >= ENOUGH and most > LOPSIDED * fewest:
        few, many = (stored.labels[stored.messages.index(count)] for count in (fewest, most))
        sentences.append(f"{most // fewest} times as many {many} as {few}: more {few} would help")
    idle = today() - last
    if last and idle > STALE:
        sentences.append(f"nothing learned for {idle} days: spam changes")
    return sentences


class TellingTokens:
    """The most telling tokens of each label, of all counts added so far."""

    def __init__(self, likelihood: Likelihood, top: int) -> None:
        self.likelihood = likelihood
        self.top = top if likelihood.view.event != "gaussian" else 0  # which knows numbers only
        # Of each label (negative importance, index, messages, weight), the most important first.
        self.found: list[list[tuple[float, int, list[int], float]]] = [[] for _ in likelihood.labels]

    def add(self, start: int, message_counts: Array, occurrence_counts: Array) -> None:
        """Rank some tokens, of which the first has the index `start`.

        A token seen twice is not important, so the weight is taken times the root of its messages.
        """
        if not self.top:
            return
        all_leads = token_leads(self.likelihood, message_counts, occurrence_counts)
        words = np.any(occurrence_counts, axis=0)  # and no pairs
        for found, leads, messages in zip(self.found, all_leads, message_counts, strict=True):
            importances = leads * np.sqrt(messages) * words
            found += [
                (-float(importances[k]), start + k, message_counts[:, k].tolist(), float(leads[k]))
                for k in indices_of_highest(importances, self.top).tolist()
                if importances[k] > 0
            ]
            found[:] = sorted(found)[: self.top]

    def by_label(self, texts: Callable[[Sequence[int]], list[str]]) -> dict[str, list[TellingToken]]:
        """The tokens of each label; `texts` gives their texts by their indices."""
        return {
            label: [
                TellingToken(text, messages, weight)
                for text, (_, _, messages, weight) in zip(
                    texts([index for _, index, _, _ in found]), found, strict=True
                )
            ]
            for label, found in zip(self.likelihood.labels, self.found, strict=True)
        }


def indices_of_highest(values: Array, top: int) -> Array:
    """The indices of the highest values, highest first; of equal ones the first."""
    if top < len(values):
        least = np.partition(values, -top)[-top]
        candidates = np.flatnonzero(values >= least)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")][:top]


def token_leads(likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> Array:
    """`label_leads` of each token, as [label, token]."""
    counts = counts_for(likelihood.view, message_counts, occurrence_counts)
    return by_row(lambda row: label_leads(likelihood, row), counts, len(likelihood.labels))


def label_leads(likelihood: Likelihood, row: tuple[int, ...]) -> list[float]:
    """How far each label is ahead of the best other one, spam of all others together; at most INFINITE."""
    counted, spam = Scorer(likelihood).weights_of(row), likelihood.spam_apart
    weights = likelihood.weights(row) if spam >= 0 else counted
    leads = [lead_of(counted if k == spam else weights, k) for k in range(len(weights))]
    return [max(-INFINITE, min(INFINITE, lead)) for lead in leads]


def most_telling_tokens(
    table: CountTable, view: View, texts: Callable[[Sequence[int]], list[str]], top: int
) -> dict[str, list[TellingToken]]:
    """The tokens of a table that speak most for each label."""
    telling = TellingTokens(Likelihood(table, view), top)
    if len(table):
        telling.add(0, table.message_counts, table.occurrence_counts)
    return telling.by_label(texts)
