"""Features of many messages as sparse rows, with the vocabulary of them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import MISSING, Rows, Sets, Texts, distinct

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.grams import GramSet
    from spamnb.reading.features import Features
    from spamnb.reading.token_table import TokenTable

MOST_OCCURRENCES = 65_535  # of one token in one message: two bytes hold this number
FIRST_SIZE = 1 << 18  # entries of rows, at first; what is not used takes no memory


class BatchBuilder:
    """Takes the features of messages one by one, and makes rows of them."""

    def __init__(self) -> None:
        self.entries = 0  # of all rows
        self.fingerprints = np.empty(FIRST_SIZE, np.uint64).data
        self.times = np.empty(FIRST_SIZE, np.uint16).data
        self.parts = np.empty(FIRST_SIZE, np.uint8).data
        self.ends = np.empty(FIRST_SIZE, np.int64).data  # where the text of each entry ends; pairs have none
        self.text = bytearray()
        self.size = 0  # of the text
        self.starts = [0]
        self.gram_count = 0  # of all messages
        self.grams = np.empty(FIRST_SIZE, np.uint32).data  # counters
        self.gram_starts = [0]
        self.numbers: list[dict[str, int]] = []

    def add(self, features: Features | None) -> None:
        """Add a message; None for one whose features nobody wants."""
        if features is not None:
            for table in (*features.full_tables, features.table):
                self.add_table(table, False)
            self.text += features.text[: features.size]
            self.size += features.size
            for table in (*features.full_pair_tables, features.pair_table):
                self.add_table(table, True)
            self.add_grams(features.gram_set)
        self.gram_starts.append(self.gram_count)
        self.starts.append(self.entries)
        self.numbers.append(features.numbers if features is not None else {})

    def add_table(self, table: TokenTable, of_pairs: bool) -> None:
        """Add the tokens or pairs of a message; the texts of tokens lie one behind the other."""
        while self.entries + table.used > len(self.parts):
            self.fingerprints, self.times = grown(self.fingerprints), grown(self.times)
            self.parts, self.ends = grown(self.parts), grown(self.ends)
        fingerprints, times, parts, ends = self.fingerprints, self.times, self.parts, self.ends
        size, most = self.size, MOST_OCCURRENCES
        for entry in range(table.used):
            to = self.entries + entry
            fingerprints[to] = table.fingerprints[entry]
            if table.times[entry] > most:
                raise OverflowError("a token occurs too often in one message")
            times[to] = table.times[entry]
            parts[to] = table.parts[entry]
            ends[to] = size if of_pairs else size + table.ends[entry]
        self.entries += table.used

    def add_grams(self, found: GramSet) -> None:
        """Add the counters of the grams of a message."""
        while self.gram_count + found.used > len(self.grams):
            self.grams = grown(self.grams)
        grams = self.grams
        for entry in range(found.used):
            grams[self.gram_count + entry] = found.counters[entry]
        self.gram_count += found.used

    def build(self) -> tuple[Rows, Array, Texts]:
        """Return rows of all messages, and the fingerprints and texts of their vocabulary."""
        fingerprints = np.asarray(self.fingerprints)[: self.entries]
        firsts, places = distinct(fingerprints)
        vocabulary = fingerprints[firsts]
        ends = np.asarray(self.ends)[: self.entries]
        texts = Texts(ends, np.frombuffer(self.text, np.uint8))[firsts]
        grams = np.asarray(self.grams)[: self.gram_count].copy()
        rows = Rows(
            np.array(self.starts),
            places,
            np.asarray(self.times)[: self.entries].copy(),
            np.asarray(self.parts)[: self.entries].copy(),
            self._number_columns(),
            Sets(np.array(self.gram_starts), grams),
        )
        return rows, vocabulary, texts

    def _number_columns(self) -> dict[str, Array]:
        names = dict.fromkeys(name for numbers in self.numbers for name in numbers)
        return {
            name: np.array([numbers.get(name, MISSING) for numbers in self.numbers], np.int64)
            for name in names
        }


def grown(column: Any) -> Any:
    """Return a column of twice the size."""
    larger = np.empty(2 * len(column), np.asarray(column).dtype)
    larger[: len(column)] = column
    return larger.data
