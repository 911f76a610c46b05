"""What an evaluation finds: the verdicts message by message, figures, mistakes, a learning curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Verdict
    from spamnb.inspection.knowledge import Telling
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.tables.count_table import Array

UNDECIDED = -1


@dataclass(frozen=True, eq=False)
class Judged:
    """The verdicts on labelled mail, message by message, in the order they were given."""

    labels: tuple[str, ...]
    truth: Array
    verdict: Array  # place of the label, UNDECIDED for unsure
    score: Array
    probability: Array  # [message, label]
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    unreadable: list[Unreadable]
    cutoffs: tuple[float, float] | None = None  # mean over the folds; None where the likeliest label wins


@dataclass(frozen=True)
class Mistake:
    """A message judged against its label, and the tokens that speak loudest for that."""

    path: str
    index: int | None
    subject: str
    truth: str
    verdict: str
    score: float
    evidence: list[tuple[str, float]]  # token, and its weight for spam


@dataclass(frozen=True)
class CurvePoint:
    """Of an online evaluation: how the filter did up to a message, and over the last ones before it."""

    messages: int
    one_minus_auc_percent: float | None
    ham_lost_percent: float | None
    spam_missed_percent: float | None
    recent_error_percent: float  # unsure counts as an error


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Everything an evaluation found, for a terminal, a program or a page."""

    how: str  # "in 10 folds", "by a model", "online"
    judged: Judged
    metrics: dict[str, Any]  # Metrics.as_map() and more, JSON-ready
    mistakes: list[Mistake]
    duplicates: int
    telling: dict[str, list[Telling]]
    curve: list[CurvePoint]
    learned: int | None = None  # how many of the messages the model that judges has learned; None without one
    skipped: bool = False  # whether those were left out


def judged(
    labels: tuple[str, ...],
    truth: Array,
    verdicts: Sequence[Verdict],
    names: list[tuple[str, int | None]],
    unreadable: list[Unreadable],
) -> Judged:
    """Put verdicts on labelled messages into columns."""
    places = {label: place for place, label in enumerate(labels)}
    shares = [[verdict.probabilities.get(label, 0.0) for label in labels] for verdict in verdicts]
    return Judged(
        labels,
        truth,
        np.array([places.get(verdict.label, UNDECIDED) for verdict in verdicts], int),
        np.array([verdict.score for verdict in verdicts], float),
        np.array(shares, float).reshape(-1, len(labels)),
        names,
        unreadable,
    )
