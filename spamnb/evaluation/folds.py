"""How good a filter is: cross-validation from one reading of the mail, or a model held against other mail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.classifier import Likelihood
from spamnb.bayes.cutoffs import calibrated, cutoffs, ham_and_spam, has_spam, spam_scores
from spamnb.bayes.scoring import BulkClassifier, LeaveOneOut
from spamnb.bayes.verdict import Calibration, Cutoffs, Score, verdict_of
from spamnb.errors import DataError
from spamnb.evaluation.results import judged
from spamnb.model import DEFAULT_VIEW
from spamnb.training.sample import sampled
from spamnb.workers.processes import in_parallel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.delivery.batch_judge import BatchJudge
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.results import Judged
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.tables.count_table import CountTable
    from spamnb.training.batches import Batch


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

    def table(self, fold: int) -> CountTable:
        """The counts of all mail but that of a fold."""
        return self.whole - self.corpus.table(self.assigned == fold)

    def __call__(self, fold: int) -> tuple[list[Verdict], tuple[float, float] | None]:
        corpus, table = self.corpus, self.table(fold)
        likelihood = Likelihood(table, self.view)
        limits, calibration = decision(corpus, likelihood, table, self.assigned != fold)
        rows = corpus.rows.chosen(np.flatnonzero(self.assigned == fold))
        joints = (
            BulkClassifier(likelihood, table.message_counts, table.occurrence_counts).joints(rows).tolist()
        )
        verdicts = [verdict_of(Score(corpus.labels, joint, []), limits, calibration) for joint in joints]
        return verdicts, (limits.ham, limits.spam) if limits else None


def _all(verdicts: list[Verdict | None]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict is not None]


def held_out(
    judge: BatchJudge, labels: Sequence[str], batches: Iterable[Batch], skip_learned: bool = False
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
    corpus: Corpus, likelihood: Likelihood, table: CountTable, training: Array
) -> tuple[Cutoffs | None, Calibration | None]:
    """What training would set from the mail it learned; a textbook's view has neither."""
    if not likelihood.view.has_cutoffs or not has_spam(corpus.labels):
        return None, None
    messages = sampled(corpus.digests, corpus.truth, np.flatnonzero(training))
    truth = corpus.truth[messages]
    left_out = LeaveOneOut(likelihood, table.message_counts, table.occurrence_counts)
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
