"""A sample of the learned messages, scored at the end of training; cutoffs are computed from these scores."""

from __future__ import annotations

from array import array
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.bayes.cutoffs import leads_among_others, spam_scores
from spamnb.bayes.likelihood import Likelihood
from spamnb.core.native import CountTable, FeatureScorer, trim_memory
from spamnb.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.view import View
    from spamnb.core.native import LearnedMessages, MessageRows
    from spamnb.training.known_messages import Steps

SAMPLE_SIZE = 5000  # messages of each label: 0.1 % of them, the ham that may be lost, are five
SAMPLE_BYTES = 64 << 20  # of memory for a label
COPIED_AT_ONCE = 8 << 20  # bytes copied before freed memory is returned to the system
SLACK = 1.05  # factor by which a sample may exceed its limits before messages are dropped
MAX_DIGEST = (1 << 64) - 1


class Piece(NamedTuple):
    """Messages of one batch and one label."""

    rows: MessageRows
    hashes: Sequence[int]
    sizes: Sequence[int]  # bytes of memory

    @classmethod
    def of(cls, rows: MessageRows, messages: Iterable[int] | None = None) -> Piece:
        """Select messages of a batch by their numbers; with None, take all of them without copying."""
        if messages is None:
            rows.drop_texts()
        else:
            rows = rows.chosen(array("q", messages))
        return cls(rows, memoryview(rows.hashes).cast("Q"), memoryview(rows.sizes).cast("q"))


class LabelSample:
    """A sample of a label's mail: the messages with the lowest hashes, as many as memory allows."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.count = self.size = 0  # messages, and bytes of memory
        self.limit = MAX_DIGEST  # the highest hash that may still be sampled

    def add(self, rows: MessageRows, messages: Sequence[int]) -> None:
        """Add the given messages of a batch, except those whose hashes are too high for the sample."""
        hashes = memoryview(rows.hashes).cast("Q")
        messages = [message for message in messages if hashes[message] <= self.limit]
        if messages:
            piece = Piece.of(rows, None if len(messages) == len(rows) else messages)
            self.pieces.append(piece)
            self.count += len(messages)
            self.size += sum(piece.sizes)
            if self.count > SLACK * SAMPLE_SIZE or self.size > SLACK * SAMPLE_BYTES:
                self.shrink()

    def shrink(self) -> None:
        """Drop the messages with the highest hashes, until the others are within the limits."""
        if self.count <= SAMPLE_SIZE and self.size <= SAMPLE_BYTES:
            return
        known = sorted(each for piece in self.pieces for each in zip(piece.hashes, piece.sizes, strict=True))
        sizes = [size for size in accumulate(size for _, size in known[:SAMPLE_SIZE]) if size <= SAMPLE_BYTES]
        self.count, self.size = len(sizes), sizes[-1] if sizes else 0
        self.limit = known[self.count - 1][0] if sizes else 0
        copied = 0
        for number, piece in enumerate(self.pieces):  # one by one, to limit memory
            fitting = [n for n, message_hash in enumerate(piece.hashes) if message_hash <= self.limit]
            if len(fitting) < len(piece.hashes):
                self.pieces[number] = Piece.of(piece.rows, fitting)
                copied += sum(piece.sizes)
            if copied > COPIED_AT_ONCE or number + 1 == len(self.pieces):
                trim_memory()
                copied = 0
        self.pieces = [piece for piece in self.pieces if piece.hashes]


class Sample:
    """The messages of a training that are scored at the end of the training."""

    def __init__(self) -> None:
        self.by_label: dict[int, LabelSample] = {}  # by label index

    def add(self, rows: MessageRows, steps: Steps) -> None:
        """Add the messages that are learned from a batch, if their hashes are low enough for the sample."""
        if steps.learned:
            self.by_label.setdefault(steps.label_index, LabelSample()).add(rows, steps.learned)

    def relabel(self, indices: Sequence[int]) -> None:
        """Replace each label index k by `indices[k]`."""
        self.by_label = {indices[old]: sample for old, sample in self.by_label.items()}

    def pieces(self) -> list[tuple[int, Piece]]:
        """Return a list of (label index, messages): the sampled messages, grouped by label and batch."""
        for sample in self.by_label.values():
            sample.shrink()
        return [(label, piece) for label, sample in self.by_label.items() for piece in sample.pieces]

    def vocabulary(self, labels: Sequence[str]) -> CountTable:
        """Return a table of all tokens of the sampled messages; `add_up` fills in the counts of all mail."""
        table = CountTable(labels, has_texts=False)
        for label_index, piece in self.pieces():
            piece.rows.keeps_places = True
            count = len(piece.hashes)
            table.add(piece.rows, array("q", range(count)), array("q", [label_index]) * count, 0, sign=0)
        return table


class SampleScorer:
    """Scores the messages of a sample in threads, each by the counts of all other mail."""

    def __init__(self, sample: Sample, view: View, table: CountTable, jobs: int) -> None:
        self.pieces, self.labels, self.jobs = sample.pieces(), list(table.labels), jobs
        self.likelihood = Likelihood(table, view)
        self.likelihood.keep_logarithms()
        self.idle_scorers = [FeatureScorer(self.likelihood, table)]  # that no thread uses

    def __call__(self, learned: LearnedMessages, misfiled: Sequence[float]) -> None:
        """Store the scores of the sample in `learned`, by counts corrected for shares of `misfiled` mail."""
        self.likelihood.correct(misfiled)
        found = in_threads(self._joints, self.pieces, self.jobs)
        for (label_index, piece), joints in zip(self.pieces, found, strict=True):
            scores = spam_scores(self.labels, joints)
            leads = leads_among_others(self.labels, repeat(label_index, len(joints)), joints)
            for message_hash, score, lead in zip(piece.hashes, scores, leads, strict=True):
                learned.set(message_hash, label_index, score, lead)

    def _joints(self, label_index: int, piece: Piece) -> list[list[float]]:
        """Return log P(label, message) by message and label; the message's own counts are left out."""
        scorer = self.idle_scorers.pop() if len(self.idle_scorers) > 1 else self.idle_scorers[0].another()
        count, labels = len(piece.hashes), len(self.labels)
        joints = array("d", bytes(8 * count * labels))
        of_label = array("q", [label_index]) * count
        scorer.score_left_out(piece.rows, array("q", range(count)), of_label, joints)
        self.idle_scorers.append(scorer)
        found: Any = memoryview(joints).cast("B").cast("d", (count, labels)).tolist()
        return list(found)
