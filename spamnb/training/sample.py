"""A sample of the messages that training learns, scored when it ends: cutoffs are set by these scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.arrays import sorted_distinct
from spamnb.bayes.cutoffs import leads_among_others, spam_scores
from spamnb.bayes.likelihood import Likelihood
from spamnb.core.native import CountTable, FeatureScorer
from spamnb.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.core.native import Counts, MessageRows
    from spamnb.store.counts import TotalCounts
    from spamnb.store.learned import LearnedMessages
    from spamnb.training.known_messages import Steps

SAMPLE_SIZE = 5000  # messages of each label: 0.1 % of them, the ham that may be lost, are five
SAMPLE_BYTES = 64 << 20  # of memory that those of a label may take
SLACK = 1.05  # more than it may have is sampled before some is dropped
HIGHEST_DIGEST = (1 << 64) - 1


class Piece(NamedTuple):
    """Messages of one batch and one label."""

    rows: MessageRows
    digests: Array
    sizes: Array  # bytes of memory

    @classmethod
    def of(cls, rows: MessageRows, messages: Array, digests: Array, sizes: Array) -> Piece:
        """Choose messages of a batch; it is kept as it is, if these are all of them in their order."""
        if len(messages) == len(rows) and (messages == np.arange(len(rows))).all():
            rows.drop_texts()
            return cls(rows, digests, sizes)
        return cls(rows.chosen(messages), digests[messages], sizes[messages])

    def chosen(self, which: Array) -> Piece:
        return Piece(self.rows.chosen(np.flatnonzero(which)), self.digests[which], self.sizes[which])


class LabelSample:
    """The messages of a label that have the lowest digests: as many as fit, whatever order they come in."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.count = self.size = 0  # messages, and bytes of memory
        self.limit = HIGHEST_DIGEST  # of the digests that may still be sampled

    def add(self, rows: MessageRows, messages: Array) -> None:
        """Add messages of a batch, if they may be among the lowest."""
        digests, sizes = np.frombuffer(rows.digests, np.uint64), np.frombuffer(rows.sizes, np.int64)
        messages = messages[digests[messages] <= np.uint64(self.limit)]
        if len(messages):
            self.pieces.append(Piece.of(rows, messages, digests, sizes))
            self.count += len(messages)
            self.size += int(sizes[messages].sum())
            if self.count > SLACK * SAMPLE_SIZE or self.size > SLACK * SAMPLE_BYTES:
                self.shrink()

    def shrink(self) -> None:
        """Drop the messages that do not fit: all from the first on, by digest, with which it is too much."""
        if self.count <= SAMPLE_SIZE and self.size <= SAMPLE_BYTES:
            return
        digests = np.concatenate([piece.digests for piece in self.pieces])
        sizes = np.concatenate([piece.sizes for piece in self.pieces])
        order = np.argsort(digests)[:SAMPLE_SIZE]
        fitting = int(np.searchsorted(np.cumsum(sizes[order]), SAMPLE_BYTES, "right"))
        self.limit = int(digests[order[fitting - 1]]) if fitting else 0
        self.count, self.size = fitting, int(sizes[order[:fitting]].sum())
        for number, piece in enumerate(self.pieces):  # one by one: all of them twice would be much memory
            fits = piece.digests <= np.uint64(self.limit)
            if not fits.all():
                self.pieces[number] = piece.chosen(fits)
        self.pieces = [piece for piece in self.pieces if len(piece.digests)]


class Sample:
    """Messages of a run to be scored when it ends."""

    def __init__(self) -> None:
        self.by_label: dict[int, LabelSample] = {}  # by label index

    def add(self, rows: MessageRows, steps: Steps) -> None:
        """Add the messages of a batch that are learned."""
        if len(steps.learned):
            self.by_label.setdefault(steps.label_index, LabelSample()).add(rows, steps.learned)

    def relabel(self, indices: Sequence[int]) -> None:
        """Give each label, in order, another index."""
        self.by_label = {indices[old]: sample for old, sample in self.by_label.items()}

    def pieces(self) -> list[tuple[int, Piece]]:
        """Return what is to be scored, and the label index of each piece."""
        for sample in self.by_label.values():
            sample.shrink()
        return [(label, piece) for label, sample in self.by_label.items() for piece in sample.pieces]

    def vocabulary(self, labels: Sequence[str]) -> CountTable:
        """Make a table of all that the messages have, for the counts of all mail to be filled in."""
        table = CountTable(labels, has_texts=False)
        for label_index, piece in self.pieces():
            piece.rows.keeps_places = True
            messages = np.arange(len(piece.digests))
            table.add(piece.rows, messages, np.full(len(messages), label_index), 0, sign=0)
        return table


class SampleScorer:
    """Scores the messages of a sample, each by the mail without itself, on some threads."""

    def __init__(self, sample: Sample, view: View, totals: TotalCounts, counts: Counts, jobs: int) -> None:
        self.pieces, self.labels, self.jobs = sample.pieces(), list(totals.labels), jobs
        self.likelihood = Likelihood(totals, view)
        self.likelihood.keep_logarithms()
        self.spare = [FeatureScorer(self.likelihood, counts)]  # that no thread uses

    def __call__(self, learned: LearnedMessages, misfiled: Sequence[float]) -> LearnedMessages:
        """Note the scores, by counts that are corrected by shares of misfiled mail."""
        self.likelihood.correct(misfiled)
        joints = np.concatenate([*in_threads(self._joints, self.pieces, self.jobs)])
        digests = np.concatenate([piece.digests for _, piece in self.pieces])
        label_indices = np.repeat(
            [label for label, _ in self.pieces], [len(piece.digests) for _, piece in self.pieces]
        )
        leads = leads_among_others(self.labels, label_indices, joints)
        return learned.scored(digests, scores=spam_scores(self.labels, joints), leads=leads)

    def _joints(self, label_index: int, piece: Piece) -> Array:
        """Score the messages of a piece: log-joints [message, label]."""
        scorer = self.spare.pop() if len(self.spare) > 1 else self.spare[0].another()
        count = len(piece.digests)
        joints = np.empty((count, len(self.labels)))
        scorer.score_left_out(piece.rows, np.arange(count), np.full(count, label_index), joints)
        self.spare.append(scorer)
        return joints


def sampled(digests: Array, truth: Array, messages: Array, size: int = SAMPLE_SIZE) -> Array:
    """Choose from `messages` (indices) those that a Sample would keep: of each label, the lowest digests."""
    order = messages[np.argsort(digests[messages], kind="stable")]
    return np.concatenate([order[truth[order] == label][:size] for label in sorted_distinct(truth[order])])
