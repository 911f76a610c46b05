"""How good a filter is: cross-validation from one reading of the mail, or a model held against other mail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bayes import Likelihood, Score
from spamnb.bulk.calibration import calibrated, cutoffs, ham_and_spam, has_spam, sampled, spam_scores
from spamnb.bulk.scoring import BulkClassifier, LeftOut
from spamnb.bulk.workers import in_parallel
from spamnb.errors import DataError
from spamnb.model import DEFAULT_VIEW
from spamnb.verdict import Calibration, Cutoffs, decided

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.bulk.batches import Batch
    from spamnb.bulk.classifying import Judge
    from spamnb.bulk.columns import Columns
    from spamnb.bulk.corpus import Corpus
    from spamnb.bulk.knowledge import Telling
    from spamnb.mail.sources import Unreadable
    from spamnb.verdict import Verdict
    from spamnb.view import View

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


def cross_validated(corpus: Corpus, assigned: Array, view: View = DEFAULT_VIEW, jobs: int = 1) -> Judged:
    """Each message judged by a model of all folds but its own: the counts of all less those of the fold."""
    folds = CrossValidation(corpus, assigned, view)
    verdicts: list[Verdict | None] = [None] * len(corpus)
    limits = []
    for fold, (found, pair) in enumerate(in_parallel(folds, ((n,) for n in range(folds.count)), jobs)):
        for message, verdict in zip(np.flatnonzero(assigned == fold).tolist(), found, strict=True):
            verdicts[message] = verdict
        limits.append(pair)
    everything = judged(corpus.labels, corpus.truth, _all(verdicts), corpus.names, corpus.unreadable)
    if None in limits:
        return everything
    return replace(everything, cutoffs=tuple(np.mean(limits, axis=0).tolist()))


class CrossValidation:
    """The work of one fold: train without it, judge it."""

    def __init__(self, corpus: Corpus, assigned: Array, view: View) -> None:
        self.corpus = corpus
        self.assigned = assigned
        self.view = view
        self.count = int(assigned.max()) + 1
        self.whole = corpus.table(np.ones(len(corpus), bool))

    def table(self, fold: int) -> Columns:
        """The counts of all mail but that of a fold."""
        return self.whole.less(self.corpus.table(self.assigned == fold))

    def __call__(self, fold: int) -> tuple[list[Verdict], tuple[float, float] | None]:
        corpus, table = self.corpus, self.table(fold)
        likelihood = Likelihood(table, self.view)
        limits, calibration = decision(corpus, likelihood, table, self.assigned != fold)
        rows = corpus.rows.chosen(np.flatnonzero(self.assigned == fold))
        joints = BulkClassifier(likelihood, table.containing, table.occurring).joints(rows).tolist()
        verdicts = [decided(Score(corpus.labels, joint, []), limits, calibration) for joint in joints]
        return verdicts, (limits.ham, limits.spam) if limits else None


def _all(verdicts: list[Verdict | None]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict is not None]


def held_out(
    judge: Judge, labels: Sequence[str], batches: Iterable[Batch], skip_learned: bool = False
) -> tuple[Judged, int]:
    """Judge labelled mail by a model as it is; also returns how many of the messages it has learned."""
    model = judge.model
    known = tuple(dict.fromkeys([*model.labels, *labels]))
    truth: list[int] = []
    verdicts: list[Verdict] = []
    names: list[tuple[str, int | None]] = []
    unreadable: list[Unreadable] = []
    learned = 0
    for batch in batches:
        place = known.index(batch.label or "")
        for name, verdict, is_learned in zip(
            batch.names, judge.verdicts(batch), judge.has_learned(batch), strict=True
        ):
            learned += is_learned
            if not (is_learned and skip_learned):
                truth.append(place)
                verdicts.append(verdict)
                names.append(name)
        unreadable += batch.unreadable
    limits = (model.cutoffs.ham, model.cutoffs.spam) if model.cutoffs and has_spam(model.labels) else None
    found = judged(known, np.array(truth, int), verdicts, names, unreadable)
    return replace(found, cutoffs=limits), learned


def decision(
    corpus: Corpus, likelihood: Likelihood, table: Columns, training: Array
) -> tuple[Cutoffs | None, Calibration | None]:
    """What training would set from the mail it learned; a textbook's view has neither."""
    if not likelihood.view.has_cutoffs or not has_spam(corpus.labels):
        return None, None
    messages = sampled(corpus.digests, corpus.truth, np.flatnonzero(training))
    truth = corpus.truth[messages]
    left_out = LeftOut(likelihood, table.containing, table.occurring)
    scores = spam_scores(corpus.labels, left_out.scores(corpus.rows.chosen(messages), truth))
    ham, spam = ham_and_spam(corpus.labels, truth, scores.astype(np.float32))
    return cutoffs(ham, spam), calibrated(ham, spam)


def fold_of(corpus: Corpus, folds: int, seed: int, together: bool = False) -> Array:
    """A fold for each message: as many of each label in every one, by a seeded shuffle.

    `together` puts exact copies of a message into one fold.
    """
    generator = np.random.default_rng(seed)
    assigned = np.empty(len(corpus), int)
    for place, label in enumerate(corpus.labels):
        mine = np.flatnonzero(corpus.truth == place)
        if not len(mine):
            raise DataError(f"no {label} to evaluate with")
        if len(mine) < folds:
            raise DataError(
                f"{folds} folds need {folds} messages of each label; there are {len(mine)} {label}"
            )
        assigned[generator.permutation(mine)] = np.arange(len(mine)) % folds
    if together:
        _, first, group = np.unique(corpus.digests, return_index=True, return_inverse=True)
        assigned = assigned[first][group]
    return assigned


def judged(
    labels: tuple[str, ...],
    truth: Array,
    verdicts: Sequence[Verdict],
    names: list[tuple[str, int | None]],
    unreadable: list[Unreadable],
) -> Judged:
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
