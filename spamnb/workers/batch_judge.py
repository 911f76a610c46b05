"""Chunks of mail judged by one model, as each process of a pool does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.features import Features
from spamnb.reading.sender import read_head

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.sources import Chunk
    from spamnb.model import Model
    from spamnb.reading.sender import Head

    # Path, number in an mbox (or None), verdict, and head if it is wanted, of each message.
    Judged = tuple[str, int | None, Verdict, Head | None]
    # What was judged; what could not be read; bytes read.
    Judgement = tuple[list[Judged], list[Unreadable], int]


def with_index_offset(judgement: Judgement, offset: int) -> Judgement:
    """Add `offset`, the number of messages before these in their mailbox, to the index of each message."""
    verdicts, unreadable, size = judgement
    if offset:
        verdicts = [
            (path, None if at is None else at + offset, verdict, head) for path, at, verdict, head in verdicts
        ]
    return verdicts, unreadable, size


class BatchJudge:
    """Judges chunks of mail by a model whose counts are read into memory."""

    def __init__(self, model: Model, heads: bool = False) -> None:
        self.model = load_into_memory(model)
        self.heads = heads
        self.spare = Features(model.key)

    def __call__(self, chunk: Chunk) -> Judgement:
        verdicts, unreadable = [], []
        for raw in chunk.messages():
            if isinstance(raw, Unreadable):
                unreadable.append(raw)
            else:
                verdict = self.model.verdict(self.model.features(raw.data, self.spare))
                verdict.evidence = ()
                verdicts.append((raw.path, raw.index, verdict, read_head(raw.data) if self.heads else None))
        return verdicts, unreadable, chunk.size
