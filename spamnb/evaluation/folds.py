"""Judge labelled mail: by cross-validation from one reading of it, or by a model trained on other mail."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.bulk_classifier import BulkClassifier
from spamnb.bayes.cutoffs import (
    has_spam,
    leads_among_others,
    measured,
    misfiled_shares,
    score_scale,
    spam_scores,
)
from spamnb.bayes.likelihood import NONE_MISFILED
from spamnb.bayes.verdict import Calibration, Cutoffs, verdict_of
from spamnb.errors import DataError
from spamnb.evaluation.results import JudgedMessages
from spamnb.evaluation.running_counts import RunningCounts
from spamnb.model import DEFAULT_VIEW
from spamnb.tables.lookup import CountLookup
from spamnb.training.sample import sampled
from spamnb.workers.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.model import Model
    from spamnb.training.batches import Batch


def cross_validate(folds: CrossValidation, jobs: int = 1) -> JudgedMessages:
    """Judge each message by a model of all folds but its own: the counts of all less those of the fold."""
    corpus, assigned = folds.corpus, folds.assigned
    verdicts: list[Verdict | None] = [None] * len(corpus)
    cutoff_pairs = []
    for fold, (found, pair) in enumerate(in_threads(folds, ((n,) for n in range(folds.count)), jobs)):
        for message, verdict in zip(np.flatnonzero(assigned == fold).tolist(), found, strict=True):
            verdicts[message] = verdict
        cutoff_pairs.append(pair)
    given = [verdict for verdict in verdicts if verdict is not None]
    mean_pair = None if None in cutoff_pairs else tuple(np.mean(cutoff_pairs, axis=0).tolist())
    return JudgedMessages.of(corpus.labels, corpus.truth, given, corpus.names, corpus.unreadable, mean_pair)


class CrossValidation:
    """The work of one fold: forget its messages, judge them, learn them again."""

    def __init__(self, corpus: Corpus, assigned: Array, view: View = DEFAULT_VIEW) -> None:
        self.corpus = corpus
        self.assigned = assigned
        self.view = view
        self.count = int(assigned.max()) + 1
        self.spare: list[RunningCounts] = []  # of all mail, that no thread uses

    def all_counts(self) -> RunningCounts:
        """Return the counts of all mail, to forget messages and learn them again."""
        with suppress(IndexError):
            return self.spare.pop()
        counts = RunningCounts(self.corpus, self.view)
        for message in range(len(self.corpus)):
            counts.learn(message)
        return counts

    @contextmanager
    def counts_without(self, fold: int) -> Iterator[RunningCounts]:
        """Forget the messages of a fold for a while."""
        messages = np.flatnonzero(self.assigned == fold).tolist()
        counts = self.all_counts()
        for message in messages:
            counts.forget(message)
        yield counts
        for message in messages:
            counts.learn(message)
        self.spare.append(counts)

    def __call__(self, fold: int) -> tuple[list[Verdict], tuple[float, float] | None]:
        with self.counts_without(fold) as counts:
            limits, calibration = limits_by(self.corpus, counts, self.assigned != fold)
            messages = np.flatnonzero(self.assigned == fold).tolist()
            scores = [counts.score(message) for message in messages]
        verdicts = [verdict_of(score, limits, calibration) for score in scores]
        return verdicts, (limits.ham, limits.spam) if limits else None


def judge_by_model(
    model: Model, labels: Sequence[str], batches: Iterable[Batch]
) -> tuple[JudgedMessages, int]:
    """Judge labelled mail by a model, and count what it has learned already, which is left out."""
    first, *others = model.layers
    lookup = CountLookup(first, model.view, *others)
    classifier = BulkClassifier(model.classifier, lookup.counts, lookup.grams)
    known = tuple(dict.fromkeys([*model.labels, *labels]))
    truth: list[int] = []
    verdicts: list[Verdict] = []
    names: list[tuple[str, int | None]] = []
    unreadable: list[Unreadable] = []
    learned = 0
    for batch in batches:
        label_index = known.index(batch.label or "")
        scores = classifier.scores(batch.rows, lookup.counts_of(batch.rows, batch.fingerprints))
        for name, score, digest in zip(batch.names, scores, batch.digests.tolist(), strict=True):
            if model.stored.label_of(digest) is not None:
                learned += 1
                continue
            truth.append(label_index)
            verdicts.append(model.decide(score))
            names.append(name)
        unreadable += batch.unreadable
    pair = (model.cutoffs.ham, model.cutoffs.spam) if model.cutoffs and has_spam(model.labels) else None
    judged = JudgedMessages.of(known, np.array(truth, int), verdicts, names, unreadable, pair)
    return judged, learned


def limits_by(
    corpus: Corpus, counts: RunningCounts, training: Array
) -> tuple[Cutoffs | None, Calibration | None]:
    """Set cutoffs and calibration as training would from the same mail; a textbook's view has neither."""
    scores = np.full(len(corpus), np.nan, np.float32)  # NaN for those of no sample
    if not counts.view.has_cutoffs or not has_spam(corpus.labels):
        return None, None
    messages = sampled(corpus.digests, corpus.truth, np.flatnonzero(training))
    truth = corpus.truth[messages]

    def scored_by(shares: tuple[float, float]) -> Array:
        counts.correct(shares)
        joints = counts.left_out_joints(messages.tolist())
        scores[messages] = spam_scores(corpus.labels, joints)
        return joints

    joints = scored_by(NONE_MISFILED)
    found = misfiled_shares(corpus.labels, corpus.truth[training], scores[training])
    if any(found):  # again, as in training
        joints = scored_by(found)
    leads = leads_among_others(corpus.labels, truth, joints).astype(np.float32)
    return measured(corpus.labels, truth, scores[messages], leads, scale=score_scale(counts.view))


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
