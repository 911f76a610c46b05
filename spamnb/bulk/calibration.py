"""Cutoffs and probabilities from the scores that training mail gets when each message is left out."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.bulk.scoring import Rows, Table, left_out
from spamnb.verdict import SPAM, Calibration, Cutoffs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.columns import Array, Columns
    from spamnb.view import View

SAMPLE = 5000  # messages of each label whose scores are taken: 0.1 % of them are five
HAM_LOSS = 0.001  # the share of ham that may be taken for spam
SPAM_LOSS = 0.01  # the share of spam that may be taken for ham before it is called unsure
NEAR = 0.75  # of a gap between ham and spam lies on this side of a cutoff
FEWEST = 5  # messages of each label; below that the cutoffs would be chance


class Row(NamedTuple):
    """A message of the sample."""

    digest: int
    hashes: Array  # of its tokens
    parts: Array


class Sample:
    """Messages of a run to be scored when it ends: those of the lowest digests, in whatever order."""

    def __init__(self, size: int = SAMPLE) -> None:
        self.size = size
        self.kept: dict[int, list[Row]] = {}  # by the place of their label

    def add(self, batch: Batch, steps: Sequence[tuple[int, int, int]]) -> None:
        for message, place, sign in steps:
            if sign > 0:
                rows = batch.rows
                entries = slice(rows.starts[message], rows.starts[message + 1])
                own = Row(
                    int(batch.digests[message]), batch.hashes[rows.places[entries]], rows.parts[entries]
                )
                self.kept.setdefault(place, []).append(own)
        for place, kept in self.kept.items():
            if len(kept) > 2 * self.size:
                self.kept[place] = self._lowest(kept)

    def _lowest(self, kept: list[Row]) -> list[Row]:
        return sorted(kept, key=lambda row: row.digest)[: self.size]

    def scored(self, table: Columns, view: View) -> Columns:
        """The table with the scores of the sample noted: each by the mail of the table without itself."""
        chosen = [(place, row) for place, kept in self.kept.items() for row in self._lowest(kept)]
        if not chosen or not has_spam(table.labels) or not view.has_cutoffs:
            return table
        hashes = [row.hashes for _, row in chosen]
        rows = Rows(
            np.cumsum([0, *map(len, hashes)]),
            table.places(np.concatenate(hashes)),
            np.ones(sum(map(len, hashes)), np.uint16),
            np.concatenate([row.parts for _, row in chosen]),
            {},
        )
        counts = Table.whole(view, table.containing, table.occurring, table.messages, table.numbers)
        truth = np.array([place for place, _ in chosen])
        scores = spam_scores(table.labels, left_out(view, counts, rows, truth))
        digests = np.array([row.digest for _, row in chosen], np.uint64)
        return replace(table, learned=table.learned.scored(digests, scores))


def sampled(digests: Array, truth: Array, messages: Array, size: int = SAMPLE) -> Array:
    """Those of some messages that a Sample of them would keep."""
    order = messages[np.argsort(digests[messages], kind="stable")]
    return np.concatenate([order[truth[order] == place][:size] for place in np.unique(truth[order])])


def has_spam(labels: Sequence[str]) -> bool:
    """Whether a message is either spam or one other thing, so that cutoffs can tell them apart."""
    return len(labels) == 2 and SPAM in labels


def spam_scores(labels: Sequence[str], second_against_first: Array) -> Array:
    """Of two labels, how far spam is ahead."""
    return second_against_first if labels.index(SPAM) else -second_against_first


def ham_and_spam(labels: Sequence[str], places: Array, scores: Array) -> tuple[Array, Array]:
    """Scores of ham and of spam, as far as they were taken."""
    if not has_spam(labels):
        return scores[:0], scores[:0]
    taken = ~np.isnan(scores)
    spam = places == labels.index(SPAM)
    return scores[taken & ~spam].astype(float), scores[taken & spam].astype(float)


def cutoffs(ham: Array, spam: Array, ham_loss: float = HAM_LOSS, spam_loss: float = SPAM_LOSS) -> Cutoffs:
    """The lowest spam cutoff that loses no more ham than accepted, and the highest ham cutoff likewise."""
    if min(len(ham), len(spam)) < FEWEST:
        return Cutoffs()
    upper = _above(ham, ham_loss, spam)
    lower = -_above(-spam, spam_loss, -ham)
    return Cutoffs(min(lower, upper), upper)


def _above(scores: Array, loss: float, others: Array) -> float:
    """A cutoff that no more than a share of the scores lies above, and as few of the others below as can be.

    Between the next of the others and the score under it, nearer to the former: what may be lost need not be,
    and what scores in a wide gap between ham and spam is like neither, so it is unsure. Where there are too
    few scores to lose even one, not below what a normal distribution of them says.
    """
    last = np.sort(scores)[::-1][int(loss * len(scores))]  # the first that must not be lost
    other = others[others > last].min(initial=np.inf)
    below = scores[scores < other].max()
    cutoff = float(below + NEAR * (other - below)) if np.isfinite(other) else float(scores.max()) + 1.0
    if loss * len(scores) < 1:
        cutoff = max(cutoff, float(scores.mean() + NormalDist().inv_cdf(1 - max(loss, 1e-6)) * scores.std()))
    return cutoff


def calibrated(ham: Array, spam: Array) -> Calibration:
    """Logistic regression of the label on the score (Platt's targets keep it from being too sure)."""
    if not len(ham) or not len(spam):
        return Calibration()
    score = np.concatenate((ham, spam))
    target = np.concatenate(
        (np.full(len(ham), 1 / (len(ham) + 2)), np.full(len(spam), (len(spam) + 1) / (len(spam) + 2)))
    )
    design = np.stack((score, np.ones_like(score)))
    beta = np.zeros(2)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(beta @ design, -500, 500)))
        gradient = design @ (target - p) - 1e-6 * beta
        curvature = (design * (p * (1 - p))) @ design.T + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        beta = beta + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-9:
            break
    return Calibration(float(beta[0]), float(beta[1]))
