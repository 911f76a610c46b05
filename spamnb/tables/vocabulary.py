"""The tokens of a model, block by block: of however many there are, a few are in memory at a time.

A token is known by its place: first those of the file, in its order, then those that only the journal has.
"""

from binascii import crc32
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array, Texts
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.store.stored_model import StoredModel
from spamnb.tables.layout import record_type

BLOCK_SIZE = 1 << 17  # tokens read at once: the arrays made of them take some 20 MB


class Block(NamedTuple):
    """Tokens that are read together."""

    start: int  # the place of its first token
    fingerprints: Array
    message_counts: Array  # [label, token] messages, the journal's included
    occurrence_counts: Array  # [label, token]
    last_days: Array  # counted from 1970


class JournalToken(NamedTuple):
    """A token in the journal: what to add to its counts, its text, and the days it was seen."""

    counts: list[int]
    text: bytes
    first_day: int
    last_day: int


class Vocabulary:
    """All tokens of a model file and its journal, in the order of their places."""

    def __init__(self, stored: StoredModel) -> None:
        self.stored = stored
        self.size = len(stored.column("tokens"))  # tokens of the file alone
        self.in_journal = tokens_of_journal(stored)
        known = stored.tokens.rows(list(self.in_journal))  # of the file alone
        self.new = {key: token for key, token in self.in_journal.items() if key not in known}
        self._new_tokens = list(self.new.values())
        self._new_keys = list(self.new)
        changed = sorted(known)
        self._changed = np.array(changed, np.uint64)
        self._changes = [self.in_journal[key] for key in changed]

    def blocks(self) -> Iterator[Block]:
        """Read all tokens, block by block."""
        label_count = len(self.stored.labels)
        start = 0
        columns = [column_blocks(self.stored, name) for name in ("tokens", "days")]
        for records, last in zip(*columns, strict=True):
            counts, seen = records["counts"].T.astype(np.int32), last.copy()
            self._change(records["key"], counts, seen)
            yield Block(start, records["key"], counts[:label_count], counts[label_count:], seen)
            start += len(records)
        if self.new:
            keys = np.array(self._new_keys, np.uint64)
            counts = np.maximum(np.array([token.counts for token in self._new_tokens], np.int32).T, 0)
            seen = np.array([token.last_day for token in self._new_tokens], np.uint16)
            yield Block(start, keys, counts[:label_count], counts[label_count:], seen)

    def _change(self, keys: Array, counts: Array, days: Array) -> None:
        """Add what the journal has of a block's tokens."""
        first = np.searchsorted(self._changed, keys[0], "left")
        last = np.searchsorted(self._changed, keys[-1], "right")
        for key, change in zip(self._changed[first:last], self._changes[first:last], strict=True):
            at = np.searchsorted(keys, key)
            counts[:, at] = np.maximum(counts[:, at] + change.counts, 0)  # forgotten twice: no harm
            days[at] = max(days[at], change.last_day)

    def tokens(self, places: Iterable[int]) -> list[str]:
        """Texts of some tokens."""
        return [self._token(place).decode("utf-8", "replace") for place in places]

    def texts(self, block: Block) -> Texts:
        """Texts of the tokens of a block."""
        if block.start >= self.size:
            return Texts.of([token.text for token in self._new_tokens])
        column, text = self.stored.column("ends"), self.stored.column("text")
        size = len(block.fingerprints)
        data = column.file.read(column.at + block.start * column.width, size * column.width)
        start = min(column[block.start - 1] if block.start else 0, len(text))
        ends = np.frombuffer(data, record_type(column.kind)).astype(np.int64).clip(start, len(text))
        ends = np.maximum.accumulate(ends) - start  # whoever made the file
        return Texts(ends, np.frombuffer(text.file.read(text.at + start, int(ends[-1])), np.uint8))

    def place(self, fingerprint: int) -> int:
        """Find the place of a token, which must be there."""
        if fingerprint in self.new:
            return self.size + self._new_keys.index(fingerprint)
        return bisect_left(range(self.size), fingerprint, key=self._key)

    def _token(self, place: int) -> bytes:
        if place >= self.size:
            return self._new_tokens[place - self.size].text
        ends, text = self.stored.column("ends"), self.stored.column("text")
        start = ends[place - 1] if place else 0
        return text.file.read(text.at + start, ends[place] - start)

    def days(self, place: int) -> tuple[int, int]:
        """Look up the days on which a token was first and last seen."""
        if place >= self.size:
            token = self._new_tokens[place - self.size]
            return token.first_day, token.last_day
        later = self.in_journal.get(self._key(place))
        first, last = self.stored.column("first_days")[place], self.stored.column("days")[place]
        return first, max(last, later.last_day) if later else last

    def _key(self, place: int) -> int:
        if place >= self.size:
            return self._new_keys[place - self.size]
        return self.stored.column("tokens").key(place)


def check_columns(stored: StoredModel, *without: str) -> None:
    """Verify the checksums of all columns but those named."""
    for name, *_ in stored.head["columns"]:
        if name not in without:
            for _ in column_blocks(stored, name):
                pass


def column_blocks(stored: StoredModel, name: str) -> Iterator[Array]:
    """Read a column in blocks, and verify its checksum at the end."""
    column = stored.column(name)
    expected = next(checksum for each, _, _, checksum in stored.head["columns"] if each == name)
    found = 0
    for start in range(0, len(column), BLOCK_SIZE):
        size = min(BLOCK_SIZE, len(column) - start)
        data = column.file.read(column.at + start * column.width, size * column.width)
        found = crc32(data, found)
        yield np.frombuffer(data, record_type(column.kind))
    if found != expected:
        raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")


def tokens_of_journal(stored: StoredModel) -> dict[int, JournalToken]:
    """Collect the tokens of a journal by their fingerprints."""
    counts = stored.journal.rows()
    tokens: dict[int, JournalToken] = {}
    for record in stored.journal.records:
        words = bytes(record.text).split(b"\n")
        for key, word in zip(record.fingerprints, words, strict=False):
            first = min(record.day, tokens[key].first_day) if key in tokens else record.day
            last = max(record.day, tokens[key].last_day) if key in tokens else record.day
            tokens[key] = JournalToken(counts[key], word, first, last)
    return tokens
