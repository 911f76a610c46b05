"""Many messages judged by one model, on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.bayes import Score
from spamnb.bulk.batches import batch_of
from spamnb.bulk.columns import Columns
from spamnb.bulk.scoring import BulkClassifier, Table
from spamnb.bulk.workers import in_parallel
from spamnb.mail.sources import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spamnb.bulk.batches import Batch
    from spamnb.mail.sources import Chunk, Unreadable
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

    def __call__(self, chunk: Chunk) -> Judgement:
        batch = batch_of(chunk, None, self.model.tokenizer)
        named = zip(batch.names, self.verdicts(batch), strict=True)
        return [(*name, verdict) for name, verdict in named], batch.unreadable, batch.size


def classify_all(model: Model, paths: Sequence[str], jobs: int) -> Iterator[Judgement]:
    yield from in_parallel(Judge(model), ((chunk,) for chunk in chunks(paths)), jobs)
