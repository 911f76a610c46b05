"""Judging much mail in threads, without numpy, which takes time to load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.core.native import read
from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import chunks
from spamnb.reading.envelope import envelope_of
from spamnb.threads import all_cores, in_threads

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.sources import Chunk
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

    # Of a message: path, number in an mbox (or None), verdict, envelope if wanted.
    Judged = tuple[str, int | None, Verdict, Envelope | None]
    # Of a chunk of mail: what was judged; what could not be read; bytes read.
    Judgement = tuple[list[Judged], list[Unreadable], int]


def judge_mail(
    model: Model, paths: Sequence[str], jobs: int | None, envelopes: bool = False
) -> Iterator[Judgement]:
    """Judge all mail at some paths; yield the results in order, with the messages' envelopes if wanted."""
    in_memory = load_into_memory(model)

    def judge(chunk: Chunk) -> Judgement:
        found = list(chunk.messages())
        raws = [raw for raw in found if not isinstance(raw, Unreadable)]
        verdicts = in_memory.verdicts([raw.data for raw in raws])
        judged = [
            (raw.path, raw.index, verdict, envelope_of(read(raw.data)) if envelopes else None)
            for raw, verdict in zip(raws, verdicts, strict=True)
        ]
        return judged, [one for one in found if isinstance(one, Unreadable)], chunk.size

    return in_threads(judge, ((chunk,) for chunk in chunks(paths)), jobs or all_cores())
