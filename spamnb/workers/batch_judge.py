"""Chunks of mail judged by one model, as each process of a pool does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.envelope import envelope_of
from spamnb.reading.features import Features
from spamnb.reading.message import read

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.sources import Chunk
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

    # Path, number in an mbox (or None), verdict, and envelope if it is wanted, of each message.
    Judged = tuple[str, int | None, Verdict, Envelope | None]
    # What was judged; what could not be read; bytes read.
    Judgement = tuple[list[Judged], list[Unreadable], int]


def with_index_offset(judgement: Judgement, offset: int) -> Judgement:
    """Add `offset`, the number of messages before these in their mailbox, to the index of each message."""
    verdicts, unreadable, size = judgement
    if offset:
        verdicts = [
            (path, None if at is None else at + offset, verdict, envelope)
            for path, at, verdict, envelope in verdicts
        ]
    return verdicts, unreadable, size


class BatchJudge:
    """Judges chunks of mail by a model whose counts are read into memory."""

    def __init__(self, model: Model, envelopes: bool = False) -> None:
        self.model = load_into_memory(model)
        self.envelopes = envelopes
        self.spare = Features()

    def __call__(self, chunk: Chunk) -> Judgement:
        verdicts, unreadable = [], []
        for raw in chunk.messages():
            if isinstance(raw, Unreadable):
                unreadable.append(raw)
            else:
                message = read(raw.data)
                verdict = self.model.verdict(self.model.features(message, self.spare))
                verdict.evidence = ()
                envelope = envelope_of(message) if self.envelopes else None
                verdicts.append((raw.path, raw.index, verdict, envelope))
        return verdicts, unreadable, chunk.size
