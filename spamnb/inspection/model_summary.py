"""A summary of a model; it is read in blocks, so that memory does not grow with the number of tokens."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes import layers
from spamnb.bayes.cutoffs import has_spam
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import lead_of
from spamnb.bayes.view import prior
from spamnb.clock import DAY, today
from spamnb.core.native import Scorer
from spamnb.inspection.assessment import ENOUGH, assessment
from spamnb.inspection.words import WordBlock, words_of
from spamnb.model import Model
from spamnb.store.journal import FOLD_LIMIT
from spamnb.store.stored_model import StoredModel

LOPSIDED = 20  # labels are out of balance if one has so many times as much mail as another
STALE = 180  # days without learning after which a model is reported as old
INFINITE = 99.0  # nats, instead of an infinite weight


@dataclass(frozen=True)
class StrongToken:
    """A token that is evidence for a label, with its weight for that label."""

    token: str
    messages: list[int]
    weight: float


@dataclass(frozen=True)
class ModelSummary:
    """A model's labels, counts, settings and age, its strongest tokens, and advice."""

    path: str
    size: int
    labels: list[str]
    messages: list[int]
    priors: list[float]
    tokens: list[int]  # different tokens of each label
    occurrences: list[int]
    vocabulary: int
    pairs: int
    journal: int  # messages
    journal_size: int
    journal_limit: int  # bytes at which it is folded into the model
    settings: dict[str, Any]
    view: dict[str, Any]
    cutoffs: list[float] | None
    margin: float | None  # by which a label other than spam must lead; None if there is only one
    ham_loss: float  # the share of ham that the cutoffs may lose
    last_learned: str | None  # such as 2026-11-15: the latest day on which a token was seen
    assessment: list[str]  # how much spam is caught and what would help, a sentence each
    strongest: dict[str, list[StrongToken]]
    base: dict[str, Any] | None  # the model below, if any; all other fields are of this model alone

    @classmethod
    def of(cls, model: Model, top: int) -> ModelSummary:
        base = about_base(model)
        model = model.alone()
        stored = model.stored
        tokens_by_label = np.zeros(len(stored.labels), np.int64)
        last_day = 0
        strongest = StrongestTokens(model.classifier, top)
        for words in words_of(stored):
            tokens_by_label += np.count_nonzero(words.occurrence_counts, axis=1)
            last_day = max(last_day, int(words.last_days.max()))
            strongest.add(words)
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
            [*assessment(stored), *advice(stored, last_day)],
            strongest.by_label(),
            base,
        )


def about_base(model: Model) -> dict[str, Any] | None:
    """Return facts about a model's base: path, whether model, base or both judge; None without a base."""
    if not (about := model.stored.head.get("base")):
        return None
    judges = ["model" if layer is model.stored else "base" for layer in model.layers]
    limits = [model.cutoffs.ham, model.cutoffs.spam] if model.base and model.cutoffs else None
    enough = layers.ENOUGH_ALONE if model.base and model.base.is_imported else layers.ENOUGH
    return {"path": about["path"], "judges": judges, "enough": enough, "cutoffs": limits}


def day_text(day: int) -> str:
    """Return a day (a number of days since 1970) as text, such as 2026-11-15."""
    return time.strftime("%Y-%m-%d", time.gmtime(DAY * day))


def advice(stored: StoredModel, last: int) -> list[str]:
    """Return advice in sentences, if one label has far less mail than another, or the model is old."""
    sentences = []
    most, fewest = max(stored.messages), min(stored.messages)
    if fewest >= ENOUGH and most > LOPSIDED * fewest:
        few, many = (stored.labels[stored.messages.index(count)] for count in (fewest, most))
        sentences.append(f"{most // fewest} times as many {many} as {few}: more {few} would help")
    idle = today() - last
    if last and idle > STALE:
        sentences.append(f"nothing was learned for {idle} days, but spam changes: learn recent mail")
    return sentences


class StrongestTokens:
    """The strongest tokens of each label among the words added so far."""

    def __init__(self, likelihood: Likelihood, top: int) -> None:
        self.likelihood = likelihood
        self.top = top if likelihood.view.event != "gaussian" else 0  # Gaussians use numbers, not tokens
        # For each label: (negative importance, fingerprint, token), the most important first.
        self.found: list[list[tuple[float, int, StrongToken]]] = [[] for _ in likelihood.labels]

    def add(self, words: WordBlock) -> None:
        """Add the words of a block; rank words by weight · √messages, so that rare words come last."""
        if not self.top:
            return
        all_leads = words.values(self.likelihood.view, lambda row: label_leads(self.likelihood, row))
        for found, leads, messages in zip(self.found, all_leads, words.message_counts, strict=True):
            importances = leads * np.sqrt(messages)
            for k in indices_of_highest(importances, self.top).tolist():
                if importances[k] > 0:
                    token = StrongToken(words.text(k), words.message_counts[:, k].tolist(), float(leads[k]))
                    found.append((-float(importances[k]), int(words.fingerprints[k]), token))
            found.sort(key=lambda each: each[:2])
            del found[self.top :]

    def by_label(self) -> dict[str, list[StrongToken]]:
        """Return the tokens of each label, the strongest first."""
        return {
            label: [token for *_, token in found]
            for label, found in zip(self.likelihood.labels, self.found, strict=True)
        }


def indices_of_highest(values: Array, top: int) -> Array:
    """Return the indices of the `top` highest values, the highest first; of equal values, the first ones."""
    if top < len(values):
        least = np.partition(values, -top)[-top]
        candidates = np.flatnonzero(values >= least)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")][:top]


def label_leads(likelihood: Likelihood, row: tuple[int, ...]) -> list[float]:
    """Return each label's lead by a token with these counts: over the best other label (spam: all others)."""
    counted, spam = Scorer(likelihood).weights_of(row), likelihood.spam_apart
    weights = likelihood.weights(row) if spam >= 0 else counted
    leads = [lead_of(counted if k == spam else weights, k) for k in range(len(weights))]
    return [max(-INFINITE, min(INFINITE, lead)) for lead in leads]
