"""Time against size: what each family of hostile messages costs as it grows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

from fuzz.common import new_folder
from fuzz.families import BODY, BOX, FAMILIES, HEADERS
from fuzz.file_checks import sound_model

from spamnb.core.native import BatchReader, hash_of_message, read
from spamnb.mailboxes.sources import RawMessage, ReadMessages, messages
from spamnb.model import Model
from spamnb.passthrough import passed_through
from spamnb.training.batches import batch_of

SHOWN = 20  # the slowest
STEP = 4  # times larger
MAX_RATIO = 1.5 * STEP  # times as long; quadratic would be 16
FREE = 0.002  # seconds that no size accounts for
# Bytes to begin with: four times as much is still below what is read of a message.
SIZES = {HEADERS: 32 << 10, BODY: 32 << 10, BOX: 128 << 10}


def judged(raw: bytes) -> None:
    """All that is done with a message: judged by itself and in bulk, passed on, known again."""
    model = Model.open(sound_model())
    passed_through(raw, model.classify(raw))
    hash_of_message(read(raw))
    reader = BatchReader(model.tokenizer.settings)
    batch_of(ReadMessages([RawMessage("-", None, raw)], 0), None, reader)


def opened(data: bytes) -> None:
    """A mailbox split into its messages, unpacked first if it is packed."""
    box = FOLDER / "box"
    box.write_bytes(data)
    for _ in messages([str(box)]):
        pass


FOLDER = new_folder()
WORK: dict[str, Callable[[bytes], None]] = {HEADERS: judged, BODY: judged, BOX: opened}


def seconds(work: Callable[[bytes], None], raw: bytes, tries: int) -> float:
    """The least of several tries."""
    return min(_once(work, raw) for _ in range(tries))


def _once(work: Callable[[bytes], None], raw: bytes) -> float:
    start = process_time()
    work(raw)
    return process_time() - start


def main() -> int:
    rows = []
    for kind, families in FAMILIES.items():
        for name, make in families.items():
            once, more = (seconds(WORK[kind], make(SIZES[kind] * times), 3) for times in (2, 2 * STEP))
            rows.append((more, once, f"{kind}: {name}"))
    for more, once, name in sorted(rows, reverse=True)[:SHOWN]:
        print(f"{name:44}{1000 * once:>9.1f} ms{1000 * more:>9.1f} ms")
    slow = [name for more, once, name in rows if more > MAX_RATIO * once + FREE]
    print(
        f"{len(slow)} of {len(rows)} families take over {MAX_RATIO:g} times longer for {STEP} times the size"
    )
    print(*slow, sep="\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
