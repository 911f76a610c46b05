"""What a model knows, at a glance. Read in blocks: five million tokens take no more room than five."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bayes import classifier as bayes
from spamnb.bayes.cutoffs import ham_and_spam, has_spam
from spamnb.bayes.scoring import by_row, counts_for
from spamnb.bayes.verdict import HAM, SPAM, lead_of
from spamnb.clock import DAY, today
from spamnb.store.journal import LIMIT
from spamnb.tables.learned import Learned
from spamnb.tables.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.classifier import Likelihood
    from spamnb.bayes.verdict import Cutoffs
    from spamnb.bayes.view import View
    from spamnb.model import Model
    from spamnb.store.stored_model import StoredModel
    from spamnb.tables.count_table import CountTable
    from spamnb.tables.vocabulary import Block


ENOUGH = 200  # messages of each label; with fewer, more would help
LOPSIDED = 20  # times the messages of another label
STALE = 180  # days without learning
DOUBTFUL = 0.05  # of its own mail that a model judges wrong, or not at all, when each message is left out
DAYS = 1 << 16  # that a column can hold
INFINITE = 99.0  # nats, in place of an infinite weight


def missing(labels: Sequence[str], messages: Sequence[int]) -> list[str]:
    """What mail a model lacks to be well trained."""
    there = [label for label, count in zip(labels, messages, strict=True) if count]
    if len(there) == 1:
        other = next((label for label in labels if label not in there), None)
        return [f"only {there[0]} so far; learn other mail, too: {how_to_train(other)}"]
    return [
        f"{ENOUGH - count} more {label} would help"
        for label, count in zip(labels, messages, strict=True)
        if count < ENOUGH
    ]


def how_to_train(label: str | None) -> str:
    """A command line that learns mail of a label, or of any other than there is."""
    options = {HAM: "--ham PATH", SPAM: "--spam PATH", None: "--label NAME=PATH"}
    return f"spamnb train {options.get(label, f'--label {label}=PATH')}"


@dataclass(frozen=True)
class TellingToken:
    """A token that speaks for a label: its weight is the log of how much likelier than in any other."""

    token: str
    messages: list[int]
    weight: float


@dataclass(frozen=True)
class OwnMail:
    """How the cutoffs judge the mail they were learned from, each message left out in turn."""

    ham: int
    ham_lost: int
    ham_unsure: int
    spam: int
    spam_missed: int
    spam_unsure: int

    @classmethod
    def of(cls, ham: Array, spam: Array, cutoffs: Cutoffs) -> OwnMail:
        def between(scores: Array) -> int:
            return int(((scores > cutoffs.ham) & (scores < cutoffs.spam)).sum())

        lost, missed = int((ham >= cutoffs.spam).sum()), int((spam <= cutoffs.ham).sum())
        return cls(len(ham), lost, between(ham), len(spam), missed, between(spam))

    @property
    def doubtful(self) -> float:
        """The share that is not judged right."""
        wrong = self.ham_lost + self.ham_unsure + self.spam_missed + self.spam_unsure
        return wrong / max(1, self.ham + self.spam)


@dataclass(frozen=True)
class Knowledge:
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
    ham_loss: float  # that they were set for
    own_mail: OwnMail | None
    last_learned: str | None  # days, as 2026-11-15; the vocabulary by the day each token was last seen
    seen_since: str | None  # half of it
    oldest: str | None
    missing: list[str]  # to be well trained
    telling: dict[str, list[TellingToken]]

    @classmethod
    def of(cls, model: Model, top: int) -> Knowledge:
        stored = model.stored
        vocabulary = Vocabulary(stored)
        vocabulary.check("tokens", "days")  # which `blocks` reads
        known = np.zeros(len(stored.labels), np.int64)
        days = np.zeros(DAYS, np.int64)
        best = [Best(top) for _ in stored.labels]
        for block in vocabulary.blocks():
            known += np.count_nonzero(block.occurrence_counts, axis=1)
            days += np.bincount(block.days, minlength=DAYS)
            if top and model.view.event != "gaussian":
                lead = leads(model.classifier, block.message_counts, block.occurrence_counts)
                for place, own in enumerate(best):
                    own.add(block, lead[place], place)
        settings = model.settings.as_map()
        settings["stop_words"] = len(settings["stop_words"])
        own_mail = judged_without_itself(model)
        return cls(
            stored.path,
            os.path.getsize(stored.path),
            list(stored.labels),
            list(stored.messages),
            bayes.prior(stored.labels, stored.messages, model.view.prior),
            known.tolist(),
            list(stored.occurrences),
            stored.vocabulary,
            stored.pair_vocabulary,
            len(stored.journal.records),
            stored.journal.size,
            LIMIT,
            settings,
            model.view.as_map(),
            [model.cutoffs.ham, model.cutoffs.spam] if model.cutoffs and has_spam(stored.labels) else None,
            stored.head["ham_loss"],
            own_mail,
            *ages(days),
            [*missing(stored.labels, stored.messages), *advice(stored, own_mail, newest(days))],
            {label: own.telling(vocabulary) for label, own in zip(stored.labels, best, strict=True)},
        )

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


def judged_without_itself(model: Model) -> OwnMail | None:
    """None where there are no cutoffs to judge by."""
    if not model.cutoffs or not isfinite(model.cutoffs.spam) or not has_spam(model.labels):
        return None
    return OwnMail.of(*left_out_scores(model.stored), model.cutoffs)


def left_out_scores(stored: StoredModel) -> tuple[Array, Array]:
    """Scores of the ham and the spam learned, each by the mail without itself, as far as they were taken."""
    learned = Learned.load(stored)
    return ham_and_spam(stored.labels, learned.labels, learned.scores)


def newest(days: Array) -> int:
    """The last day on which something was learned; 0 for never."""
    return int(np.flatnonzero(days)[-1]) if days.any() else 0


def ages(days: Array) -> tuple[str | None, str | None, str | None]:
    """The last day that tokens were seen, the day since when half of them were, and the first."""
    if not days.any():
        return None, None, None
    half = int(np.searchsorted(np.cumsum(days), days.sum() / 2))
    return date(newest(days)), date(half), date(int(np.flatnonzero(days)[0]))


def date(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(DAY * day))


def advice(stored: StoredModel, own_mail: OwnMail | None, last: int) -> list[str]:
    """What else would help, beside more mail of a label."""
    said = []
    most, fewest = max(stored.messages), min(stored.messages)
    if fewest >= ENOUGH and most > LOPSIDED * fewest:
        few, many = (stored.labels[stored.messages.index(count)] for count in (fewest, most))
        said.append(f"{most // fewest} times as many {many} as {few}: more {few} would help")
    quiet = today() - last
    if last and quiet > STALE:
        said.append(f"nothing learned for {quiet} days: spam changes")
    if own_mail and own_mail.doubtful > DOUBTFUL:
        share = f"{100 * own_mail.doubtful:.0f} %"
        said.append(
            f"{share} of its own mail it judges wrong or not at all: look for mail under the wrong label"
        )
    return said


class Best:
    """The tokens that tell most for a label, of all blocks seen so far."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.found: list[tuple[float, int, list[int], float]] = []  # rank, place, messages, weight

    def add(self, block: Block, ahead: Array, place: int) -> None:
        rank = headline(block.message_counts[place], ahead)
        self.found += [
            (-float(rank[at]), block.start + at, block.message_counts[:, at].tolist(), float(ahead[at]))
            for at in highest(rank, self.top).tolist()
            if rank[at] > 0
        ]
        self.found = sorted(self.found)[: self.top]

    def telling(self, vocabulary: Vocabulary) -> list[TellingToken]:
        texts = vocabulary.tokens([at for _, at, _, _ in self.found])
        return [
            TellingToken(text, messages, weight)
            for text, (_, _, messages, weight) in zip(texts, self.found, strict=True)
        ]


def headline(messages: Array, ahead: Array) -> Array:
    """By weight times the root of the messages: a token seen twice is no headline."""
    return ahead * np.sqrt(messages)


def highest(rank: Array, top: int) -> Array:
    """Where the highest stand, highest first; of equals the first."""
    if top < len(rank):
        least = np.partition(rank, -top)[-top]
        candidates = np.flatnonzero(rank >= least)
    else:
        candidates = np.arange(len(rank))
    return candidates[np.argsort(-rank[candidates], kind="stable")][:top]


def leads(likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> Array:
    """How far each label [label, token] is ahead of the best other one."""
    counts = counts_for(likelihood.view, message_counts, occurrence_counts)
    return by_row(lambda row: ahead(likelihood.weights(row)), counts, len(likelihood.labels))


def ahead(weights: Sequence[float]) -> list[float]:
    """How far each label is ahead of the best other one, at most INFINITE."""
    return [max(-INFINITE, min(INFINITE, lead_of(weights, place))) for place in range(len(weights))]


def most_telling(
    table: CountTable, view: View, texts: Callable[[Sequence[int]], list[str]], place: int, top: int
) -> list[TellingToken]:
    """The tokens of a table that tell most for a label; of equal weight, the most frequent first."""
    if not len(table) or view.event == "gaussian":
        return []
    lead = leads(bayes.Likelihood(table, view), table.message_counts, table.occurrence_counts)[place]
    chosen = highest(headline(table.message_counts[place], lead) * table.words, top)
    chosen = chosen[lead[chosen] > 0].tolist()
    return [
        TellingToken(text, table.message_counts[:, at].tolist(), float(lead[at]))
        for text, at in zip(texts(chosen), chosen, strict=True)
    ]
