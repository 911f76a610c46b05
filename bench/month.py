"""Make a model and a history as if the corpus of `make demo` had arrived within a month.

python bench/month.py FOLDER    makes FOLDER/model.msgpack and FOLDER/history, which `make review` shows
"""

import os
import random
import re
import shutil
import sys
import time
from pathlib import Path

from spamnb.clock import DAY
from spamnb.history.log import HistoryLog
from spamnb.history.queries import History
from spamnb.in_memory import load_into_memory
from spamnb.labels import HAM, SPAM
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import messages
from spamnb.model import Model
from spamnb.review.corrections import correct
from spamnb.training.train import train
from spamnb.workers import LocalPool

CORPUS = Path(__file__).parent.parent / "corpora" / "spamassassin"
BOXES = {HAM: ("ham.mbox.xz", "hard-ham.mbox.xz"), SPAM: ("spam.mbox.xz",)}
SOURCES = ("imap home/INBOX", "imap work/INBOX")
LEARNED = ((45, 0, 1500), (12, 1500, 2400))  # days ago, and which messages were learned then
ARRIVED = 2400  # messages that came within the month
LOOKED_UNTIL = 6  # days ago: all that was wrong or unsure before was put right


def make(folder: Path, now: float) -> None:
    mail = [
        (label, raw.data)
        for label, boxes in BOXES.items()
        for raw in messages([str(CORPUS / box) for box in boxes])
        if not isinstance(raw, Unreadable)
    ]
    random.Random(19).shuffle(mail)
    shutil.rmtree(folder, ignore_errors=True)
    model = str(folder / "model.msgpack")
    for days, first, last in LEARNED:
        for number, (label, data) in enumerate(mail[first:last]):
            path = folder / f"learned-{days}" / label / str(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        os.environ["SOURCE_DATE_EPOCH"] = str(int(now - days * DAY))
        sources = {label: [str(folder / f"learned-{days}" / label)] for label in BOXES}
        train(model, sources, pool=LocalPool())
    judge, log = load_into_memory(Model.open(model)), HistoryLog(folder=str(folder / "history"))
    arrived = mail[LEARNED[-1][2] :][:ARRIVED]
    for number, (_, data) in enumerate(arrived):
        arrival = now - 30 * DAY * (1 - number / len(arrived))
        data = dated(data, arrival)
        log.append(data, judge.classify(data), model, SOURCES[number % 2], now=arrival)
    del os.environ["SOURCE_DATE_EPOCH"]
    with History.open(str(folder / "history")) as history:
        history.gather()
        for entry in history.entries("time", limit=ARRIVED):
            truth = arrived[entry.id - 1][0]  # as they arrived, so they were gathered
            if entry.time < now - LOOKED_UNTIL * DAY and entry.verdict != truth:
                correct(history, [entry.id], truth)


def dated(data: bytes, when: float) -> bytes:
    """Give a message a new date, but keep the time zone, since the zone is evidence."""
    found = re.search(rb"(?m)^Date:.*?([+-]\d\d)?(\d\d)?[^\d\n]*$", data)
    if not found:
        return data
    there = time.gmtime(when + 3600 * int(found[1] or 0))
    zone = (found[1] or b"+00") + b"00"
    header = time.strftime("Date: %a, %d %b %Y %H:%M:%S ", there).encode() + zone
    return data[: found.start()] + header + data[found.end() :]


if __name__ == "__main__":
    make(Path(sys.argv[1]).absolute(), time.time())
