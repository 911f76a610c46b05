"""A sample of the messages that training learns, scored when it ends: cutoffs are set by these scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.arrays import places_among, sorted_distinct
from spamnb.bayes.bulk_classifier import BulkClassifier, counts_by_token, narrowed
from spamnb.bayes.cutoffs import leads_among_others, spam_scores
from spamnb.bayes.likelihood import Likelihood
from spamnb.training.batches import SampledMessages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.tables.count_table import CountTable
    from spamnb.tables.learned import LearnedMessages
    from spamnb.tables.spilling import ColumnInMemory, SpilledArray, SpillFile
    from spamnb.tables.totals import Totals
    from spamnb.training.batches import Batch

SAMPLE_SIZE = 5000  # messages of each label: 0.1 % of them, the ham that may be lost, are five


class SpilledMessages(NamedTuple):
    """Messages of one batch: what they say is in a file."""

    digests: Array
    labels: Array  # label indices
    columns: list[SpilledArray | ColumnInMemory]  # the other columns of SampledMessages


class Sample:
    """Messages of a run to be scored when it ends: those of the lowest digests, in any order."""

    def __init__(self, file: SpillFile, size: int = SAMPLE_SIZE) -> None:
        self.file = file
        self.size = size
        self.pieces: list[SpilledMessages] = []
        self.largest = 0  # no label has more messages in `pieces` since limits were set
        self.limits: dict[int, int] = {}  # label index → highest digest that may still be sampled

    def add(self, batch: Batch, steps: Array) -> None:
        """Add the messages of a batch that `steps` learn: rows of message, label index, and 1 or -1."""
        messages, label_indices = steps[steps[:, 2] > 0, :2].T
        digests = batch.digests[messages]
        likely = np.ones(len(messages), bool)
        for label_index, limit in self.limits.items():
            likely &= (label_indices != label_index) | (digests <= np.uint64(limit))
        messages, label_indices = messages[likely], label_indices[likely]
        if not len(messages):
            return
        piece = batch.sampled(messages, label_indices)
        rows = piece.starts, piece.places, piece.parts, piece.fingerprints
        columns = *rows, piece.gram_starts, piece.grams
        self.pieces.append(SpilledMessages(piece.digests, piece.labels, [*map(self.file.put, columns)]))
        self.largest += int(np.bincount(label_indices).max())
        if self.largest > 2 * self.size:
            self._lowest()
            self.largest = self.size

    def relabel(self, indices: Sequence[int]) -> None:
        """Give each label, in order, another index."""
        self.pieces = [piece._replace(labels=np.array(indices)[piece.labels]) for piece in self.pieces]
        self.limits = {}

    def _lowest(self) -> list[Array]:
        """Mark the messages of each piece that stay, and set the limits by them."""
        digests = np.concatenate([piece.digests for piece in self.pieces])
        labels = np.concatenate([piece.labels for piece in self.pieces])
        chosen = sampled(digests, labels, np.arange(len(digests)), self.size)
        for label_index in sorted_distinct(labels).tolist():
            of_label = digests[chosen][labels[chosen] == label_index]
            if len(of_label) == self.size:
                self.limits[label_index] = int(of_label.max())
        kept = np.zeros(len(digests), bool)
        kept[chosen] = True
        return np.split(kept, np.cumsum([len(piece.digests) for piece in self.pieces])[:-1])

    def load(self) -> Iterator[SampledMessages]:
        for (digests, labels, columns), kept in zip(self.pieces, self._lowest(), strict=True):
            if kept.any():
                piece = SampledMessages(digests, labels, *(column.load() for column in columns))
                yield piece.chosen(np.flatnonzero(kept))

    def vocabularies(self) -> list[Array]:
        """Return the fingerprints of each piece, sorted."""
        return [piece.fingerprints for piece in self.load()]


class SampleScorer:
    """Scores the messages of a sample, each by the mail without itself."""

    def __init__(
        self,
        sample: Sample,
        view: View,
        totals: Totals,
        counts: Sequence[Array],
        map_pieces: Callable[..., Iterable[Any]] = map,
    ) -> None:
        """Take the rows of counts of the sample's vocabularies, and what calls a function for each piece."""
        self.sample, self.labels, self.counts, self.map_pieces = sample, totals.labels, counts, map_pieces
        self.likelihood, self.gram_counts = Likelihood(totals, view), narrowed(totals.grams.T)
        self.spare: list[BulkClassifier] = []  # that no thread uses

    def __call__(self, learned: LearnedMessages, misfiled: Sequence[float]) -> LearnedMessages:
        """Note the scores, by counts that are corrected by shares of misfiled mail."""
        self.likelihood.correct(misfiled)
        for piece, joints in self.map_pieces(self._joints, self.sample.load(), self.counts):
            leads = leads_among_others(self.labels, piece.labels, joints)
            learned = learned.scored(piece.digests, scores=spam_scores(self.labels, joints), leads=leads)
        return learned

    def _joints(self, piece: SampledMessages, counts: Array) -> tuple[SampledMessages, Array]:
        """Score the messages of a piece."""
        try:
            classifier = self.spare.pop()
        except IndexError:
            classifier = BulkClassifier(self.likelihood, counts, self.gram_counts)
        classifier.open(piece.rows, counts)
        joints = classifier.left_out_joints(range(len(piece.rows)), piece.labels.tolist())
        self.spare.append(classifier)
        return piece, joints


def counts_in(table: CountTable, view: View, vocabularies: Sequence[Array]) -> list[Array]:
    """Look up the rows of counts that a view reads, of tokens in some vocabularies; 0 for unknown ones."""
    known = counts_by_token(view, table.message_counts, table.occurrence_counts)
    with_unknown = np.concatenate((known, np.zeros((1, known.shape[1]), known.dtype)))
    return [with_unknown.take(places_among(table.fingerprints, own), axis=0) for own in vocabularies]


def sampled(digests: Array, truth: Array, messages: Array, size: int = SAMPLE_SIZE) -> Array:
    """Choose from `messages` (indices) those that a Sample would keep: of each label, the lowest digests."""
    order = messages[np.argsort(digests[messages], kind="stable")]
    return np.concatenate([order[truth[order] == label][:size] for label in sorted_distinct(truth[order])])
