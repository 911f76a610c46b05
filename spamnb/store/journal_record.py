"""One record of a journal: its layout in the file, and what it changes in the counts.

A record is the msgpack array [crc32, bin], the bin a msgpack map: the fields below, and `model`, the
generation of the model file that it belongs to. docs/model-file.md describes each field.
"""

from __future__ import annotations

from binascii import crc32  # zlib's, without loading zlib

from spamnb.store import msgpack_codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    ByteRange = tuple[int, int]  # where damage in a journal starts and ends

ARRAY_OF_TWO = 0x92  # the first byte of a record
INTEGERS = {0xCC: 1, 0xCD: 2, 0xCE: 4}  # first byte of the checksum: how many bytes follow it
BINARIES = {0xC4: 1, 0xC5: 2, 0xC6: 4}  # first byte of the bin: how many bytes hold its length


class JournalRecord:
    """One message that was learned, forgotten, or moved from one label to another."""

    __slots__ = (
        "after",
        "before",
        "day",
        "digest",
        "end",
        "fingerprints",
        "length",
        "new_pairs",
        "new_tokens",
        "numbers",
        "occurrences",
        "pairs",
        "score",
        "steps",
        "text",
    )

    def __init__(self, fields: Mapping[str, Any], labels: Sequence[str], end: int = 0) -> None:
        self.end = end  # offset behind it in the journal
        self.digest: int = fields["digest"]
        self.after: str | None = fields["after"]
        self.day: int = fields["day"]
        self.fingerprints: Sequence[int] = memoryview(fields["fingerprints"]).cast("Q")
        self.occurrences: Sequence[int] = memoryview(fields["occurrences"]).cast("H")
        self.text = memoryview(fields["text"])
        self.pairs: Sequence[int] = memoryview(fields["pairs"]).cast("Q")
        self.numbers: dict[str, int | float] = fields["numbers"]
        self.new_tokens: int = fields["new_tokens"]
        self.new_pairs: int = fields["new_pairs"]
        self.score: float = fields["score"]
        self.length = sum(self.occurrences)  # tokens, each as often as it occurs
        self.move_from(fields["before"], labels)

    def move_from(self, before: str | None, labels: Sequence[str]) -> None:
        """Set the label before, and `steps`: (label index, 1 to add or -1 to subtract the counts) each."""
        self.before = before
        self.steps = [(labels.index(self.after), 1)] if self.after is not None else []
        if before is not None:
            self.steps.append((labels.index(before), -1))

    def add_to(self, rows: dict[int, list[int]], fingerprints: Iterable[int], label_count: int) -> None:
        """Add this message's counts of some tokens to their rows."""
        times = dict(zip(self.fingerprints, self.occurrences, strict=True))
        for fingerprint in fingerprints:
            row = rows.get(fingerprint)
            if row is None:
                row = rows[fingerprint] = [0] * (2 * label_count)
            for label_index, sign in self.steps:
                row[label_index] += sign
                row[label_count + label_index] += sign * times[fingerprint]

    def add_pairs_to(self, rows: dict[int, list[int]], fingerprints: Iterable[int], label_count: int) -> None:
        """Add this message's counts of some pairs of neighbours to their rows."""
        for fingerprint in fingerprints:
            row = rows.get(fingerprint)
            if row is None:
                row = rows[fingerprint] = [0] * label_count
            for label_index, sign in self.steps:
                row[label_index] += sign


def sealed(fields: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record, its checksum in front."""
    payload = msgpack_codec.pack(fields)
    return msgpack_codec.pack([crc32(payload), payload])


def record_at(data: memoryview, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the fields of the record at an offset, None if they are damaged, and its end.

    The end is 0 if it is not to be trusted: the record's map ends elsewhere, or no other record begins there.
    """
    checksum, start, end = frame_at(data, at)
    payload = data[start:end]
    try:
        fields, size = msgpack_codec.unpack(payload)
    except msgpack_codec.Damaged:
        return None, 0
    if start + size != end or not isinstance(fields, dict):
        return None, 0
    if crc32(payload) == checksum:
        return fields, end
    return None, end if end == len(data) or frame_at(data, end)[2] else 0


def frame_at(data: memoryview, at: int) -> tuple[int, int, int]:
    """Return the checksum of the record at an offset, where its map starts, and where it ends.

    All are 0 if no record can begin there. The end of a record that is cut off lies behind the data's.
    """
    cut_off = 0, len(data), len(data) + 1
    try:
        kind = data[at + 1]
        behind = at + 2 + INTEGERS.get(kind, 0)
        if data[at] != ARRAY_OF_TWO or (kind > 0x7F and kind not in INTEGERS):
            return 0, 0, 0
        width = BINARIES.get(data[behind])
    except IndexError:
        return cut_off if data[at] == ARRAY_OF_TWO else (0, 0, 0)
    if width is None:
        return 0, 0, 0
    start = behind + 1 + width
    if start > len(data):
        return cut_off
    checksum = int.from_bytes(data[at + 2 : behind], "big") if kind in INTEGERS else kind
    return checksum, start, start + int.from_bytes(data[behind + 1 : start], "big")
