"""Mail that is named on the command line, judged into a history of its own."""

from collections.abc import Callable, Sequence
from time import time

from spamnb.history.log import HistoryLog
from spamnb.in_memory import load_into_memory
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import message_name, messages_with_progress
from spamnb.model import Model
from spamnb.reading.dates import timestamp
from spamnb.reading.message import read

FOR_EVER, UNLIMITED = "36500", "1000TB"  # the folder goes when the page ends


def judge_into(
    folder: str, model: str, paths: Sequence[str], step: Callable[[int, int], None]
) -> list[Unreadable]:
    """Judge all mail below some paths; returns what could not be read."""
    judge, log = load_into_memory(Model.open(model)), HistoryLog(FOR_EVER, UNLIMITED, folder)
    unreadable = []
    for raw in messages_with_progress(paths, step):
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        message = read(raw.data)
        verdict = judge.verdict(judge.tokenizer.features(message, judge.view.numbers))
        name = message_name(raw.path, raw.index)
        log.append(raw.data, verdict, model, name, now=time_of(message.get("date")))
    return unreadable


def time_of(date: str | None) -> float:
    """Tell when a message was sent, by its own word; it cannot have been later than now."""
    sent, now = timestamp(date or ""), time()
    return float(sent) if sent is not None and 0 < sent < now else now
