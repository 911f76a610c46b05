"""Judging mail in bulk by threads; numpy is not needed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.core.native import FeatureSet, Tokenizer, read
from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import chunks
from spamnb.reading.envelope import envelope_of
from spamnb.workers.threads import all_cores, in_threads

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.core.native import Message
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
    return in_threads(task, ((chunk,) for chunk in chunks(paths)), jobs or all_cores())


class BatchJudge:
    """Judges chunks of mail by a model in memory, for any number of threads at a time."""

    def __init__(self, model: Model, envelopes: bool) -> None:
        self.model = load_into_memory(model)
        self.envelopes = envelopes
        self.spare: list[tuple[Tokenizer, Message, FeatureSet]] = []  # that no thread uses

    def __call__(self, chunk: Chunk) -> Judgement:
        try:
            tokenizer, message, features = self.spare.pop()
        except IndexError:
            tokenizer, message, features = Tokenizer(self.model.tokenizer.settings), read(b""), FeatureSet()
        judged, unreadable = [], []
        for raw in chunk.messages():
            if isinstance(raw, Unreadable):
                unreadable.append(raw)
            else:
                message = read(raw.data, message)
                verdict = self.model.verdict(tokenizer.features(message, self.model.view.numbers, features))
                verdict.evidence = ()
                envelope = envelope_of(message) if self.envelopes else None
                judged.append((raw.path, raw.index, verdict, envelope))
        self.spare.append((tokenizer, message, features))
        return judged, unreadable, chunk.size
