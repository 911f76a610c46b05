"""Many messages judged by one model, on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.bayes import Score
from spamnb.bulk.batches import batch_of
from spamnb.bulk.columns import Columns
from spamnb.bulk.learned import NOWHERE
from spamnb.bulk.scoring import BulkClassifier, Table

if TYPE_CHECKING:
    from spamnb.bulk.batches import Batch, Chunk
    from spamnb.mail.sources import Unreadable
    from spamnb.model import Model
    from spamnb.verdict import Verdict

    # Path, number in an mbox and verdict of each message; what could not be read; bytes done.
    Judgement = tuple[list[tuple[str, int | None, Verdict]], list[Unreadable], int]


class Judge:
    """A model read whole, to score batches with."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.columns = Columns.load(model.stored)
        columns, view = self.columns, model.view
        table = Table.whole(view, columns.containing, columns.occurring, columns.messages, columns.numbers)
        self.classifier = BulkClassifier(model.labels, view, table)

    def verdicts(self, batch: Batch) -> list[Verdict]:
        rows = batch.rows.renumbered(self.columns.places(batch.hashes))
        model = self.model
        return [
            model.decide(Score(model.labels, joint, [])) for joint in self.classifier.joints(rows).tolist()
        ]

    def has_learned(self, batch: Batch) -> list[bool]:
        """Tell of each message whether the model has learned it, under whatever label."""
        return [place != NOWHERE for place in self.columns.learned.places(batch.digests).tolist()]

    def __call__(self, chunk: Chunk) -> Judgement:
        batch = batch_of(chunk, None, self.model.tokenizer)
        named = zip(batch.names, self.verdicts(batch), strict=True)
        return [(*name, verdict) for name, verdict in named], batch.unreadable, batch.size
