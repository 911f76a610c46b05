"""Damaged journals: the search for the next sound record, and the warning."""

from __future__ import annotations

from binascii import crc32

from spamnb.files import complain
from spamnb.store import msgpack_codec
from spamnb.store.journal_record import ARRAY_OF_TWO, INTEGERS, frame_at, record_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.store.journal_record import ByteRange

CHECKSUM_FIRST_BYTES = frozenset((*range(0x80), *INTEGERS))
MAP_FIRST_BYTES = frozenset((*range(0x80, 0x90), 0xDE))
MOST_SEARCHED = 1 << 28  # bytes whose checksums are taken in search of sound records: 0.2 s
MOST_LISTED = 3  # damaged ranges in a warning

_warned: dict[str, list[ByteRange]] = {}  # path of a journal → the ranges this process warned of


class SoundRecordSearch:
    """Search for sound records behind damaged ones, in bounded time.

    Without a bound, a message full of what looks like the beginning of a long record would stop all reading.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.view = memoryview(data)
        self.bytes_left = MOST_SEARCHED

    def next_after(self, at: int) -> int:
        """Return where the next sound record begins; else the end of the journal."""
        data, view = self.data, self.view
        while (at := data.find(ARRAY_OF_TWO, at + 1, -1)) >= 0 and self.bytes_left > 0:
            if data[at + 1] not in CHECKSUM_FIRST_BYTES:
                continue
            checksum, start, end = frame_at(view, at)
            if start < end <= len(data) and data[start] in MAP_FIRST_BYTES:
                self.bytes_left -= end - start
                if crc32(view[start:end]) == checksum and record_at(view, at)[0] is not None:
                    return at
        return len(data)

    def is_cut_off(self, at: int) -> bool:
        """Tell whether the journal ends within this record, as after a crash: it was never acknowledged.

        It is not cut off if its map is complete: then the length in front of it is damaged.
        """
        _, start, end = frame_at(self.view, at)
        if end <= len(self.data):
            return False
        try:
            msgpack_codec.unpack(self.view[start:])
        except msgpack_codec.Damaged:
            return True
        return False


def warn(path: str, damaged: list[ByteRange]) -> None:
    """Warn of the damaged records of a journal, once in a process."""
    if _warned.get(path) == damaged:
        return
    _warned[path] = damaged
    ranges = ", ".join([f"{start}-{end - 1}" for start, end in damaged[:MOST_LISTED]])
    more = f" and {len(damaged) - MOST_LISTED} more" if len(damaged) > MOST_LISTED else ""
    complain(
        f"{path}: damaged records are passed over, at bytes {ranges}{more}; "
        "learn the messages of that time again (when that was: spamnb inspect --check)"
    )
