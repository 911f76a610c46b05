"""Results of an evaluation: the verdicts message by message, figures, mistakes, a learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.files import counted

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.skipped import Unreadable

UNDECIDED = -1  # in place of a label's index


@dataclass(frozen=True, eq=False)
class JudgedMessages:
    """Labelled messages and the verdicts on them; each array or list of messages has the same order."""

    labels: tuple[str, ...]
    truth: Array  # index of the label
    verdict: Array  # index of the label, UNDECIDED for unsure
    score: Array
    probability: Array  # [message, label]
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    unreadable: list[Unreadable]
    cutoffs: tuple[float, float] | None = None  # of ham and spam, means over folds; None without cutoffs

    @classmethod
    def of(
        cls,
        labels: tuple[str, ...],
        truth: Array,
        verdicts: Sequence[Verdict],
        names: list[tuple[str, int | None]],
        unreadable: list[Unreadable],
        cutoffs: tuple[float, float] | None = None,
    ) -> JudgedMessages:
        """Arrange the verdicts on labelled messages in arrays."""
        label_indices = {label: k for k, label in enumerate(labels)}
        shares = [[verdict.probabilities.get(label, 0.0) for label in labels] for verdict in verdicts]
        return cls(
            labels,
            truth,
            np.array([label_indices.get(verdict.label, UNDECIDED) for verdict in verdicts], int),
            np.array([verdict.score for verdict in verdicts], float),
            np.array(shares, float).reshape(-1, len(labels)),
            names,
            unreadable,
            cutoffs,
        )


@dataclass(frozen=True)
class Mistake:
    """A message whose verdict is not its label, and the strongest evidence in it."""

    path: str
    index: int | None
    subject: str
    truth: str
    verdict: str
    score: float
    evidence: list[tuple[str, float]]  # token, and its weight: for spam, or else for the verdict


@dataclass(frozen=True)
class CurvePoint:
    """Figures of the first messages of an online evaluation, and the error rate of the latest among them."""

    messages: int
    one_minus_auc_percent: float | None
    ham_lost_percent: float | None
    spam_missed_percent: float | None
    recent_error_percent: float  # unsure counts as an error


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All results of an evaluation, for a terminal, a program or a page."""

    how: str  # "in 10 folds", "by a model", "online"
    judged: JudgedMessages
    metrics: dict[str, Any]  # what `measure` returns, and the number of folds
    mistakes: list[Mistake]
    duplicates: int
    curve: list[CurvePoint]
    learned: int | None = None  # messages left out because the model has learned them; None without a model

    def __repr__(self) -> str:
        of_all, f1 = counted(self.metrics["messages"], "message"), self.metrics["macro"]["f1"]
        return f"<Evaluation of {of_all} {self.how}: F1 {'unknown' if f1 is None else f'{f1:.4f}'}>"

    @property
    def learned_note(self) -> str | None:
        """A text on how many messages were left out because the model has learned them; None if none were."""
        if not self.learned:
            return None
        return f"left out, because the model has already learned them: {counted(self.learned, 'message')}"
