"""Time against size: what each family of hostile messages costs as it grows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import pairwise
from time import process_time

from fuzz.common import forget, new_folder
from fuzz.families import BODY, BOX, FAMILIES, HEADERS
from fuzz.file_checks import sound_model

from spamnb.mailboxes.sources import RawMessage, ReadMessages, messages
from spamnb.model import Model
from spamnb.passthrough import passed_through
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.training.batches import batch_of

STEP = 4  # times larger
MOST = 1.5 * STEP  # times as long; quadratic would be 16
FREE = 0.01  # seconds that no size accounts for
# Bytes to begin with: four times as much is still below what is read of a message.
SIZES = {HEADERS: 32 << 10, BODY: 32 << 10, BOX: 128 << 10}


def judged(raw: bytes) -> None:
    """All that is done with a message: judged by itself and in bulk, passed on, known again."""
    model = Model.open(sound_model())
    passed_through(raw, model.classify(raw))
    digest(read(raw))
    forget()
    batch_of(ReadMessages([RawMessage("-", None, raw)], 0), None, model.tokenizer)


def opened(data: bytes) -> None:
    """A mailbox split into its messages, unpacked first if it is packed."""
    box = FOLDER / "box"
    box.write_bytes(data)
    for _ in messages([str(box)]):
        pass


FOLDER = new_folder()
WORK: dict[str, Callable[[bytes], None]] = {HEADERS: judged, BODY: judged, BOX: opened}


def seconds(work: Callable[[bytes], None], raw: bytes, tries: int) -> float:
    """The least of several tries, each without a memory of the one before."""
    return min(_once(work, raw) for _ in range(tries))


def _once(work: Callable[[bytes], None], raw: bytes) -> float:
    forget()
    start = process_time()
    work(raw)
    return process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slowest", type=int, default=20, help="families to show (20)")
    options = parser.parse_args()
    rows = []
    for kind, families in FAMILIES.items():
        for name, make in families.items():
            sizes = [SIZES[kind] * times for times in (2, 4, 8)]
            rows.append((kind, name, [seconds(WORK[kind], make(size), 3) for size in sizes]))
    rows.sort(key=lambda row: row[2][-1], reverse=True)
    doublings = sorted(after / before for _, _, took in rows for before, after in pairwise(took))
    median, most = doublings[len(doublings) // 2], doublings[-1]
    print(f"{len(rows)} families; twice the size takes {median:.2f} times as long, at most {most:.2f}")
    print(f"{'':10}{'family':34}" + "".join(f"{title:>12}" for title in ("once", "twice", "four times")))
    for kind, name, took in rows[: options.slowest]:
        print(f"{kind:10}{name:34}" + "".join(f"{1000 * time:>9.1f} ms" for time in took))
    slow = [name for _, name, took in rows if took[-1] > MOST * took[0] + FREE]
    print(
        f"{len(slow)} of {len(rows)} families take more than {MOST:g} times as long for {STEP} times the size"
    )
    for name in slow:
        print(name)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
