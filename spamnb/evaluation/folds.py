"""Cross-validation of labelled mail, which is read only once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

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
from spamnb.training.sample import SAMPLE_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Calibration, Cutoffs, Verdict
    from spamnb.bayes.view import View
    from spamnb.core.native import CountTable
    from spamnb.evaluation.corpus import Corpus

T = TypeVar("T")


def assign_folds(corpus: Corpus, count: int, seed: int = 1) -> Array:
    """Return the fold of each message: random by `seed`, with each label spread evenly over the folds."""
    generator = np.random.default_rng(seed)
    assigned = np.empty(len(corpus), int)
    for label_index, label in enumerate(corpus.labels):
        messages = np.flatnonzero(corpus.truth == label_index)
        if not len(messages):
            raise DataError(f"no {label} was found; give some mail with this label")
        if len(messages) < count:
            needed = f"{count} folds need {count} messages of each label"
            raise DataError(f"{needed}, but {label} has {len(messages)}; use fewer folds")
        assigned[generator.permutation(messages)] = np.arange(len(messages)) % count
    return assigned


class CrossValidation:
    """Judges each message by the counts of all folds except the message's own."""

    def __init__(self, corpus: Corpus, assigned: Array, view: View = DEFAULT_VIEW, jobs: int = 1) -> None:
        self.corpus = corpus
        self.assigned = assigned  # the fold of each message
        self.view = view
        self.jobs = jobs  # threads
        self.unused: list[CountTable] = []  # tables of all mail that no thread uses

    def judge(self) -> JudgedMessages:
        """Judge all messages, fold by fold; the cutoffs in the result are means over the folds."""
        verdicts: list[Any] = [None] * len(self.corpus)
        cutoff_pairs: list[Any] = []
        for messages, found, pair in self.for_each(self.judge_fold, range(int(self.assigned.max()) + 1)):
            for message, verdict in zip(messages.tolist(), found, strict=True):
                verdicts[message] = verdict
            cutoff_pairs.append(pair)
        mean_pair = None if None in cutoff_pairs else tuple(np.mean(cutoff_pairs, axis=0).tolist())
        corpus = self.corpus
        return JudgedMessages.of(
            corpus.labels, corpus.truth, verdicts, corpus.names, corpus.unreadable, mean_pair
        )

    def judge_fold(self, fold: int) -> tuple[Array, list[Verdict], tuple[float, float] | None]:
        """Judge a fold by counts and cutoffs of the others; return its messages, verdicts and the cutoffs."""
        messages = np.flatnonzero(self.assigned == fold)
        with self.table_without(fold) as table:
            scorer = FeatureScorer(Likelihood(table, self.view), table)
            limits, calibration = self.limits(scorer, np.flatnonzero(self.assigned != fold))
            scores = row_scores(scorer, self.corpus.rows, messages)
        verdicts = [verdict_of(score, limits, calibration) for score in scores]
        return messages, verdicts, (limits.ham, limits.spam) if limits else None

    @contextmanager
    def table_without(self, fold: int) -> Iterator[CountTable]:
        """Yield a table with the counts of all mail except a fold; after the `with` block, add it again."""
        try:
            table = self.unused.pop()
        except IndexError:
            table = self.corpus.table.copy()
        messages = np.flatnonzero(self.assigned == fold)
        self.corpus.change(table, messages, -1)
        yield table
        self.corpus.change(table, messages, 1)
        self.unused.append(table)

    def for_each(self, task: Callable[[int], T], folds: Iterable[int]) -> Iterator[T]:
        """Run a task for each of these folds, in `self.jobs` threads; yield the results in order."""
        return in_threads(task, ((fold,) for fold in folds), self.jobs)

    def limits(self, scorer: FeatureScorer, training: Array) -> tuple[Cutoffs | None, Calibration | None]:
        """Choose cutoffs and calibration from the `training` messages; None if view or labels allow none."""
        labels, truth, hashes = self.corpus.labels, self.corpus.truth, self.corpus.hashes
        if not self.view.has_cutoffs or not has_spam(labels):
            return None, None
        messages = sample(hashes, truth, training, len(labels))
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


def sample(hashes: Array, truth: Array, messages: Array, label_count: int) -> Array:
    """Return the messages that training would score: SAMPLE_SIZE of each label, with the lowest hashes."""
    ordered = messages[np.argsort(hashes[messages], kind="stable")]
    return np.concatenate([ordered[truth[ordered] == k][:SAMPLE_SIZE] for k in range(label_count)])
