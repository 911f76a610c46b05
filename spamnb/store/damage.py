"""Damaged journals: the search for the next sound record, and the warning."""

from __future__ import annotations

from binascii import crc32

from spamnb.files import complain
from spamnb.store import msgpack_codec
from spamnb.store.journal_record import ARRAY_OF_TWO, INTEGERS, frame_at, record_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.store.journal_record import ByteRange

CHECKSUMS = frozenset((*range(0x80), *INTEGERS))  # bytes that a checksum may begin with
MAPS = frozenset((*range(0x80, 0x90), 0xDE))  # … and a map
MOST_SEARCHED = 1 << 28  # bytes whose checksums are taken in search of sound records: 0.2 s
LISTED = 3  # damaged ranges that a warning names

_warned: dict[str, list[ByteRange]] = {}  # of which journals, by this process


class SoundRecordSearch:
    """Search for sound records behind damaged ones, in bounded time.

    A message may be full of what looks like the beginning of a long record.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.view = memoryview(data)
        self.bytes_left = MOST_SEARCHED

    def next_after(self, at: int) -> int:
        """Return where the next sound record begins; else the end of the journal."""
        data, view = self.data, self.view
        while (at := data.find(ARRAY_OF_TWO, at + 1, -1)) >= 0 and self.bytes_left > 0:
            if data[at + 1] not in CHECKSUMS:
                continue
            checksum, start, end = frame_at(view, at)
            if start < end <= len(data) and data[start] in MAPS:
                self.bytes_left -= end - start
                if crc32(view[start:end]) == checksum and record_at(view, at)[0] is not None:
                    return at
        return len(data)

    def is_cut_off(self, at: int) -> bool:
        """Tell whether the journal ends within this record, as after a crash: it was never acknowledged.

        But where its map is complete, it is the length in front that is damaged.
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
    ranges = ", ".join([f"{start}-{end - 1}" for start, end in damaged[:LISTED]])
    more = f" and {len(damaged) - LISTED} more" if len(damaged) > LISTED else ""
    complain(
        f"{path}: damaged records are passed over, at bytes {ranges}{more}; "
        "learn the messages of that time again (when that was: spamnb inspect --check)"
    )
