"""Judge labelled mail by cross-validation, from one reading of it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.cutoffs import (
    has_spam,
    leads_among_others,
    measured,
    misfiled_shares,
    score_scale,
    spam_scores,
)
from spamnb.bayes.likelihood import NONE_MISFILED, Likelihood
from spamnb.bayes.verdict import verdict_of
from spamnb.core.native import FeatureScorer
from spamnb.errors import DataError
from spamnb.evaluation.results import JudgedMessages
from spamnb.evaluation.scores import row_scores
from spamnb.model import DEFAULT_VIEW
from spamnb.threads import in_threads
from spamnb.training.sample import sampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Calibration, Cutoffs, Verdict
    from spamnb.bayes.view import View
    from spamnb.core.native import CountTable
    from spamnb.evaluation.corpus import Corpus


@dataclass(frozen=True)
class Folds:
    """How mail is split for cross-validation."""

    count: int
    seed: int = 1

    def assign(self, corpus: Corpus) -> Array:
        """Assign each message to a fold, by a seeded shuffle: as many of each label in every fold."""
        generator = np.random.default_rng(self.seed)
        assigned = np.empty(len(corpus), int)
        for label_index, label in enumerate(corpus.labels):
            messages = np.flatnonzero(corpus.truth == label_index)
            if not len(messages):
                raise DataError(f"no {label} to evaluate with")
            if len(messages) < self.count:
                needed = f"{self.count} folds need {self.count} messages of each label"
                raise DataError(f"{needed}; {label} has {len(messages)}")
            assigned[generator.permutation(messages)] = np.arange(len(messages)) % self.count
        return assigned


def cross_validate(folds: CrossValidation, jobs: int = 1) -> JudgedMessages:
    """Judge each message by the counts of all folds but its own."""
    corpus = folds.corpus
    verdicts: list[Verdict | None] = [None] * len(corpus)
    cutoff_pairs = []
    for fold, (found, pair) in enumerate(in_threads(folds.judge, ((n,) for n in range(folds.count)), jobs)):
        for message, verdict in zip(folds.messages_of(fold).tolist(), found, strict=True):
            verdicts[message] = verdict
        cutoff_pairs.append(pair)
    given = [verdict for verdict in verdicts if verdict is not None]
    mean_pair = None if None in cutoff_pairs else tuple(np.mean(cutoff_pairs, axis=0).tolist())
    return JudgedMessages.of(corpus.labels, corpus.truth, given, corpus.names, corpus.unreadable, mean_pair)


class CrossValidation:
    """Judges one fold after the other: takes its messages out of the counts, judges them, puts them back."""

    def __init__(self, corpus: Corpus, assigned: Array, view: View = DEFAULT_VIEW) -> None:
        self.corpus = corpus
        self.assigned = assigned
        self.view = view
        self.count = int(assigned.max()) + 1
        self.spare: list[CountTable] = []  # of all mail, that no thread uses

    def messages_of(self, fold: int) -> Array:
        return np.flatnonzero(self.assigned == fold)

    @contextmanager
    def table_without(self, fold: int) -> Iterator[CountTable]:
        """Take the messages of a fold out of a table of all mail for a while."""
        try:
            table = self.spare.pop()
        except IndexError:
            table = self.corpus.table.copy()
        self.corpus.change(table, self.messages_of(fold), -1)
        yield table
        self.corpus.change(table, self.messages_of(fold), 1)
        self.spare.append(table)

    def judge(self, fold: int) -> tuple[list[Verdict], tuple[float, float] | None]:
        """Judge the messages of a fold by all other mail, with the cutoffs that training would set by it."""
        with self.table_without(fold) as table:
            scorer = FeatureScorer(Likelihood(table, self.view), table)
            limits, calibration = self.limits(scorer, np.flatnonzero(self.assigned != fold))
            scores = row_scores(scorer, self.corpus.rows, self.messages_of(fold))
        verdicts = [verdict_of(score, limits, calibration) for score in scores]
        return verdicts, (limits.ham, limits.spam) if limits else None

    def limits(self, scorer: FeatureScorer, training: Array) -> tuple[Cutoffs | None, Calibration | None]:
        """Set cutoffs and calibration as training does; a textbook's view has neither."""
        labels, truth, digests = self.corpus.labels, self.corpus.truth, self.corpus.digests
        if not self.view.has_cutoffs or not has_spam(labels):
            return None, None
        messages = np.array(sampled(digests, truth, training.tolist()), np.int64)
        joints, of_label = np.empty((len(messages), len(labels))), truth[messages].tolist()
        counts = np.bincount(truth[training], minlength=len(labels)).tolist()

        def scored_by(misfiled: tuple[float, float]) -> list[tuple[int, float, float]]:
            scorer.likelihood.correct(misfiled)
            scorer.score_left_out(self.corpus.rows, messages, truth[messages], joints)
            rows = joints.tolist()
            taken = spam_scores(labels, rows), leads_among_others(labels, of_label, rows)
            return list(zip(of_label, *(np.array(each, np.float32).tolist() for each in taken), strict=True))

        scored = scored_by(NONE_MISFILED)
        misfiled = misfiled_shares(labels, counts, scored)
        if any(misfiled):
            scored = scored_by(misfiled)
        return measured(labels, counts, scored, scale=score_scale(self.view))
