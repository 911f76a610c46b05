"""Judging mail in bulk by the processes of this machine; numpy is not needed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import chunks
from spamnb.reading.envelope import envelope_of
from spamnb.reading.features import Features
from spamnb.reading.message import read
from spamnb.workers.processes import all_cores, in_parallel

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.sources import Chunk
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

    # Path, number in an mbox (or None), verdict, and envelope if it is wanted, of each message.
    Judged = tuple[str, int | None, Verdict, Envelope | None]
    # What was judged; what could not be read; bytes read.
    Judgement = tuple[list[Judged], list[Unreadable], int]


def judge_mail(
    model: Model, paths: Sequence[str], jobs: int | None, envelopes: bool = False
) -> Iterator[Judgement]:
    """Judge all mail below some paths, in order; with the head of each message, if it is wanted."""
    task = BatchJudge(model, envelopes)
    return in_parallel(task, ((chunk,) for chunk in chunks(paths)), jobs or all_cores())


class BatchJudge:
    """Judges chunks of mail by a model whose counts are read into memory."""

    def __init__(self, model: Model, envelopes: bool) -> None:
        self.model = load_into_memory(model)
        self.envelopes = envelopes
        self.spare = Features()

    def __call__(self, chunk: Chunk) -> Judgement:
        judged, unreadable = [], []
        for raw in chunk.messages():
            if isinstance(raw, Unreadable):
                unreadable.append(raw)
            else:
                message = read(raw.data)
                verdict = self.model.verdict(self.model.features(message, self.spare))
                verdict.evidence = ()
                envelope = envelope_of(message) if self.envelopes else None
                judged.append((raw.path, raw.index, verdict, envelope))
        return judged, unreadable, chunk.size
