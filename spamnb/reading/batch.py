"""Features of many messages as sparse rows, with the vocabulary of them all."""

from __future__ import annotations

from array import array
from os import urandom
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import MISSING, Rows, Texts, stable_order

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.key import Key
    from spamnb.reading.features import Features, TokenTable

MASK = (1 << 64) - 1
SECRET_FACTOR = int.from_bytes(urandom(8), "little") | 1  # so that nobody can choose words that share a slot
FIRST_BITS = 15  # of the numbers of slots at first
FIRST_ROOM = 1 << 16  # entries of rows, and bytes of texts, at first


class BatchBuilder:
    """Takes the features of messages one by one, and makes rows of them."""

    def __init__(self, key: Key | None = None) -> None:
        self.key = key  # None for a model that keeps words
        self.bits = FIRST_BITS
        self.slots = array("i", bytes(4 << self.bits))  # numbers in the vocabulary, from 1 on; 0: free
        self.words = 0  # in the vocabulary
        self.fingerprints = array("Q", bytes(8 << self.bits - 1))  # of the vocabulary, as below
        self.ends = array("q", bytes(8 << self.bits - 1))  # where the text of each ends
        self.text = bytearray(FIRST_ROOM)
        self.size = 0  # of the text
        self.entries = 0  # of all rows
        self.places = array("i", bytes(4 * FIRST_ROOM))
        self.times = array("H", bytes(2 * FIRST_ROOM))
        self.parts = bytearray(FIRST_ROOM)
        self.starts = [0]
        self.numbers: list[dict[str, int]] = []

    def add(self, features: Features | None) -> None:
        """Add a message; None for one whose features nobody wants."""
        if features is not None:
            for table in features.full_tables:
                self.add_table(table, features.text, False)
            self.add_table(features.table, features.text, False)
            for table in features.full_pair_tables:
                self.add_table(table, features.text, True)
            self.add_table(features.pair_table, features.text, True)
        self.starts.append(self.entries)
        self.numbers.append(features.numbers if features is not None else {})

    def add_table(self, table: TokenTable, text: bytearray, of_pairs: bool) -> None:
        """Add the tokens or pairs of a message."""
        while self.entries + table.used > len(self.places):
            self.places = grown("i", self.places)
            self.times = grown("H", self.times)
            self.parts = self.parts + bytes(len(self.parts))
        at = self.entries
        for entry in range(table.used):
            start, end = table.starts[entry], table.ends[entry]
            if of_pairs:
                start = end = 0
            self.places[at] = self.place_of(table.fingerprints[entry], text, start, end)
            self.times[at] = table.times[entry]
            self.parts[at] = table.parts[entry]
            at += 1
        self.entries = at

    def place_of(self, fingerprint: int, text: bytearray, start: int, end: int) -> int:
        """Find a token in the vocabulary, or put it there."""
        shift, last = 64 - self.bits, len(self.slots) - 1
        at = (fingerprint * SECRET_FACTOR & MASK) >> shift
        while self.slots[at]:
            if self.fingerprints[self.slots[at] - 1] == fingerprint:
                return self.slots[at] - 1
            at = at + 1 & last
        place = self.words
        self.fingerprints[place] = fingerprint
        while self.size + end - start > len(self.text):
            self.text = self.text + bytes(len(self.text))
        own = self.text
        for from_ in range(start, end):
            own[self.size] = text[from_]
            self.size += 1
        self.ends[place] = self.size
        self.words += 1
        self.slots[at] = self.words
        if self.words == len(self.fingerprints):
            self.grow()
        return place

    def grow(self) -> None:
        """Make room for twice as many words."""
        self.fingerprints, self.ends = grown("Q", self.fingerprints), grown("q", self.ends)
        self.bits += 1
        self.slots = array("i", bytes(4 << self.bits))
        shift, last = 64 - self.bits, len(self.slots) - 1
        for place in range(self.words):
            at = (self.fingerprints[place] * SECRET_FACTOR & MASK) >> shift
            while self.slots[at]:
                at = at + 1 & last
            self.slots[at] = place + 1

    def texts_in(self, order: Any, data: Any, ends: Any) -> None:
        """Copy the texts of the vocabulary in some order, one behind the other, and where each ends."""
        to = 0
        text = self.text
        for n in range(self.words):
            place = order[n]
            for at in range(self.ends[place - 1] if place else 0, self.ends[place]):
                data[to] = text[at]
                to += 1
            ends[n] = to

    def build(self) -> tuple[Rows, Array, Texts]:
        """Return rows of all messages, and the fingerprints and texts of their vocabulary."""
        fingerprints = np.frombuffer(self.fingerprints, np.uint64)[: self.words]
        if self.key:
            fingerprints = np.array(self.key.fingerprints(fingerprints.tolist()), np.uint64)
        order = stable_order(fingerprints)
        rank_of = np.empty(len(order), np.int32)
        rank_of[order] = np.arange(len(order), dtype=np.int32)
        texts = Texts.empty(len(order))
        if self.key is None:
            texts = Texts(np.empty(len(order), np.int64), np.empty(self.size, np.uint8))
            self.texts_in(order, texts.data, texts.ends)
        rows = Rows(
            np.array(self.starts),
            rank_of[np.frombuffer(self.places, np.int32)[: self.entries]],
            np.frombuffer(self.times, np.uint16)[: self.entries].copy(),
            np.frombuffer(self.parts, np.uint8)[: self.entries].copy(),
            self._number_columns(),
        )
        return rows, fingerprints[order], texts

    def _number_columns(self) -> dict[str, Array]:
        names = dict.fromkeys(name for numbers in self.numbers for name in numbers)
        return {
            name: np.array([numbers.get(name, MISSING) for numbers in self.numbers], np.int64)
            for name in names
        }


def grown(kind: str, numbers: Any) -> array[int]:
    """Return an array of twice the size, with zeros behind."""
    data = bytes(numbers)
    return array(kind, data + bytes(len(data)))
