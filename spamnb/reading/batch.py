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
            while self.size + features.size > len(self.text):
                self.text = self.text + bytes(len(self.text))
            for table in (*features.full_tables, features.table):
                self.add_table(table, features.text, False)
            for table in (*features.full_pair_tables, features.pair_table):
                self.add_table(table, features.text, True)
        self.starts.append(self.entries)
        self.numbers.append(features.numbers if features is not None else {})

    def add_table(self, table: TokenTable, text: bytearray, of_pairs: bool) -> None:
        """Add the tokens or pairs of a message."""
        while self.entries + table.used > len(self.places):
            self.places, self.times = grown("i", self.places), grown("H", self.times)
            self.parts = self.parts + bytes(len(self.parts))
        while self.words + table.used > len(self.fingerprints):
            self.grow()
        slots, fingerprints, places, times = self.slots, self.fingerprints, self.places, self.times
        own_text, parts, size = self.text, self.parts, self.size
        shift, last = 64 - self.bits, len(slots) - 1
        for entry in range(table.used):
            fingerprint = table.fingerprints[entry]
            at = (fingerprint * SECRET_FACTOR & MASK) >> shift
            while slots[at] and fingerprints[slots[at] - 1] != fingerprint:
                at = at + 1 & last
            if not slots[at]:
                if not of_pairs:
                    for letter in range(table.starts[entry], table.ends[entry]):
                        own_text[size] = text[letter]
                        size += 1
                fingerprints[self.words] = fingerprint
                self.ends[self.words] = size
                self.words += 1
                slots[at] = self.words
            places[self.entries] = slots[at] - 1
            times[self.entries] = table.times[entry]
            parts[self.entries] = table.parts[entry]
            self.entries += 1
        self.size = size

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
