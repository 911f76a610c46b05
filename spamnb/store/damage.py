"""A damaged journal: where it goes on, and what a person is told."""

from __future__ import annotations

from binascii import crc32

from spamnb.files import complain
from spamnb.store import packing
from spamnb.store.journal_record import NUMBERS, PAIR, frame_at, record_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.store.journal_record import Stretch

CHECKSUMS = frozenset((*range(0x80), *NUMBERS))  # first bytes
MAPS = frozenset((*range(0x80, 0x90), 0xDE))
PATIENCE = 1 << 28  # bytes that are summed up in search of sound records: 0.2 s
LISTED = 3  # damaged stretches that are told one by one

_told: dict[str, list[Stretch]] = {}  # by this process


class Search:
    """For sound records behind damaged ones, in bounded time.

    A message may be full of what looks like the beginning of a long record.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.view = memoryview(data)
        self.patience = PATIENCE

    def behind(self, at: int) -> int:
        """Where the next sound record begins; else the end of the journal."""
        data, view = self.data, self.view
        while (at := data.find(PAIR, at + 1, -1)) >= 0 and self.patience > 0:
            if data[at + 1] not in CHECKSUMS:
                continue
            checksum, start, end = frame_at(view, at)
            if start < end <= len(data) and data[start] in MAPS:
                self.patience -= end - start
                if crc32(view[start:end]) == checksum and record_at(view, at)[0] is not None:
                    return at
        return len(data)

    def is_torn(self, at: int) -> bool:
        """Whether the journal ends within this record, as after a crash: it was never acknowledged.

        But where its map is whole, it is the length in front that is damaged.
        """
        _, start, end = frame_at(self.view, at)
        if end <= len(self.data):
            return False
        try:
            packing.unpack(self.view[start:])
        except packing.Damaged:
            return True
        return False


def tell(path: str, damaged: list[Stretch]) -> None:
    """Once in a process."""
    if _told.get(path) == damaged:
        return
    _told[path] = damaged
    places = ", ".join([f"{start}-{end - 1}" for start, end in damaged[:LISTED]])
    more = f" and {len(damaged) - LISTED} more" if len(damaged) > LISTED else ""
    complain(
        f"{path}: damaged records are passed over, at bytes {places}{more}; "
        "learn the messages of that time again (when that was: spamnb inspect --check)"
    )
