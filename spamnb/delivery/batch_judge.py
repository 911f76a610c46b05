"""Batches of messages judged by one model, as each process of a pool does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.bayes.classifier import Score
from spamnb.bayes.scoring import BulkClassifier
from spamnb.tables.lookup import CountLookup
from spamnb.training.batches import batch_of

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.model import Model
    from spamnb.training.batches import Batch, Chunk

    # Path, number in an mbox (or None) and verdict of each message; what could not be read; bytes read.
    Judgement = tuple[list[tuple[str, int | None, Verdict]], list[Unreadable], int]


def numbered_from(first: int, judgement: Judgement) -> Judgement:
    """Add `first`, the number of messages before these in their mailbox, to the number of each message."""
    verdicts, unreadable, size = judgement
    if first:
        verdicts = [(path, None if at is None else at + first, verdict) for path, at, verdict in verdicts]
    return verdicts, unreadable, size


class BatchJudge:
    """Judges batches of messages by a model whose counts are read into memory."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.lookup = CountLookup(model.stored, model.view)
        self.classifier = BulkClassifier(model.classifier, self.lookup.counts)

    def verdicts(self, batch: Batch) -> list[Verdict]:
        self.classifier.counts = self.lookup.counts_of(batch.rows, batch.fingerprints)
        joints = self.classifier.joints(batch.rows).tolist()
        return [self.model.decide(Score(self.model.labels, joint, [])) for joint in joints]

    def has_learned(self, batch: Batch) -> list[bool]:
        """Whether the model has learned each message, under whatever label."""
        return [self.model.stored.label_of(digest) is not None for digest in batch.digests.tolist()]

    def __call__(self, chunk: Chunk) -> Judgement:
        numbers = self.model.view.numbers
        batch = batch_of(chunk, None, self.model.tokenizer, digests=False, numbers=numbers)
        named = zip(batch.names, self.verdicts(batch), strict=True)
        return [(*name, verdict) for name, verdict in named], batch.unreadable, batch.size
