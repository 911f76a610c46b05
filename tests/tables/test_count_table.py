"""Counts in memory are those of plain dictionaries; what is subtracted leaves no trace."""

import pickle
import random
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.tables import entries_of

from spamnb.core.native import (
    COUNTERS,
    BatchReader,
    Counts,
    CountSum,
    CountTable,
    FeatureSet,
    GramSums,
    Merger,
    MessageRows,
    Tokenizer,
    fingerprint_of,
    read,
)
from spamnb.reading.settings import Settings

LABELS = ["ham", "spam", "list"]
WORDS = [f"word{n}" for n in range(400)]


def mail(chance: random.Random) -> bytes:
    words = chance.choices(WORDS, k=chance.randrange(120))
    head = f"Subject: {chance.choice(WORDS)}\nDate: {chance.randrange(24)}:00:01\n\n"
    return f"{head}{' '.join(words)}!\n".encode()


class Plain:
    """Counts by the simplest means."""

    def __init__(self) -> None:
        self.messages: Counter[int] = Counter()
        self.rows: dict[int, list[int]] = {}
        self.grams: dict[int, list[int]] = {}
        self.numbers: dict[str, list[list[int]]] = {}
        self.texts: dict[int, str] = {}

    def add(self, features: FeatureSet, label: int, sign: int) -> None:
        self.messages[label] += sign
        self.texts.update(features.texts)
        pairs = ((fingerprint, 0, part) for fingerprint, part in features.pairs)
        for fingerprint, times, _ in (*features.tokens, *pairs):
            row = self.rows.setdefault(fingerprint, [0] * 6)
            row[label] += sign
            row[3 + label] += sign * times
        for gram in features.grams:
            self.grams.setdefault(gram, [0] * 3)[label] += sign
        for name, x in features.numbers.items():
            sums = self.numbers.setdefault(name, [[0] * 3 for _ in LABELS])[label]
            sums[:] = sums[0] + sign, sums[1] + sign * x, sums[2] + sign * x * x

    def kind(self, has_occurrences: bool) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.rows.values() if any(row[:3]) and any(row[3:]) == has_occurrences]

    def assert_is(self, table: CountTable) -> None:
        words, pairs = self.kind(True), self.kind(False)
        assert table.messages == [self.messages[label] for label in range(3)]
        assert table.presences == [sum(row[k] for row in words) for k in range(3)]
        assert table.occurrences == [sum(row[3 + k] for row in words) for k in range(3)]
        assert table.pair_presences == [sum(row[k] for row in pairs) for k in range(3)]
        assert (table.vocabulary, table.pair_vocabulary) == (len(words), len(pairs))
        assert table.histogram() == Counter(row[:3] for row in words)
        assert table.numbers == {
            name: sums for name, sums in sorted(self.numbers.items()) if any(map(any, sums))
        }
        assert table.lookup([*self.rows, 5]) == {
            key: tuple(row) for key, row in self.rows.items() if any(row)
        }
        assert table.lookup_grams(range(COUNTERS)) == {
            gram: tuple(row) for gram, row in self.grams.items() if any(row)
        }


def numbers(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(values, np.int64)


def read_all(mails: list[bytes]) -> MessageRows:
    reader = BatchReader(Settings())
    reader.add(mails)
    return reader.rows()


@pytest.fixture(scope="module")
def mails() -> list[bytes]:
    return [mail(random.Random(seed)) for seed in range(60)]


@pytest.fixture(scope="module")
def rows(mails: list[bytes]) -> MessageRows:
    return read_all(mails)


@pytest.mark.parametrize("keeps_places", [False, True])
def test_a_table_has_the_counts_of_dictionaries(mails, keeps_places):
    """Messages come, go and come again, in several calls; also those that the table has not seen."""
    chance, rows = random.Random(3), read_all(mails)
    rows.keeps_places = keeps_places
    tokenizer = Tokenizer(Settings())
    features = [tokenizer.features(read(raw)) for raw in mails]
    plain, table = Plain(), CountTable(LABELS)
    learned: dict[int, int] = {}
    for _ in range(12):
        chosen = chance.sample(range(len(mails)), 20)
        new = {message: chance.randrange(3) for message in chosen if message not in learned}
        old = {message: learned.pop(message) for message in chosen if message in learned}
        for messages, sign in ((new, 1), (old, -1)):
            table.add(rows, numbers(*messages), numbers(*messages.values()), 7, sign)
            for message, label in messages.items():
                plain.add(features[message], label, sign)
        learned |= new
        plain.assert_is(table)
    copy = table.copy()
    copy.add(rows, numbers(*learned), numbers(*learned.values()), 7, -1)
    plain.assert_is(table)
    assert not any(
        (*copy.messages, *copy.presences, *copy.pair_presences, copy.vocabulary, copy.pair_vocabulary)
    )
    assert (copy.numbers, copy.histogram(), copy.lookup(plain.rows)) == ({}, {}, {})


def test_a_table_grows(rows):
    """Past several doublings, nothing is lost; memory is given back to the next run by `clear_entries`."""
    table = CountTable(["ham", "spam"])
    everything = np.arange(len(rows))
    table.add(rows, everything, everything % 2, 3)
    before, size = table.lookup([fingerprint_of(b"word7")]), len(table)
    for n in range(40):
        keys = np.arange(n * 1000, (n + 1) * 1000, dtype=np.uint64)
        table.add_lesson(b"", b"", b"", keys.tobytes(), b"", [(0, 1)], 3)
    assert len(table) == size + 40_000
    assert table.lookup([fingerprint_of(b"word7")]) == before
    assert table.lookup([39_999, 40_000]) == {39_999: (1, 0, 0, 0)}
    totals = table.messages, table.numbers, table.lookup_grams(range(COUNTERS))
    table.clear_entries()
    assert (len(table), table.vocabulary, table.presences, table.lookup([39_999])) == (0, 0, [0, 0], {})
    assert totals == (table.messages, table.numbers, table.lookup_grams(range(COUNTERS)))
    table.add(rows, everything, everything % 2, 3)
    assert table.lookup([fingerprint_of(b"word7")]) == before


def test_places_are_not_taken_for_those_of_other_entries(rows):
    """As of a table that was cleared, or of a copy that grew."""
    kept = rows.chosen(np.arange(len(rows)))
    kept.keeps_places = True
    one, other = CountTable(LABELS), CountTable(LABELS)
    other.add(rows, numbers(5), numbers(0), 1)
    one.add(kept, np.arange(30), np.zeros(30, np.int64), 1)
    other.add(kept, np.arange(10), np.zeros(10, np.int64), 1)
    expected = CountTable(LABELS)
    expected.add(rows, numbers(5, *range(10)), np.zeros(11, np.int64), 1)
    assert other.histogram() == expected.histogram()
    copy = one.copy()
    one.add(kept, np.arange(30, 60), np.zeros(30, np.int64), 1)
    copy.add(kept, np.arange(59, 29, -1), np.zeros(30, np.int64), 1)
    assert copy.histogram() == one.histogram()
    one.clear_entries()
    one.add(kept, numbers(9), numbers(1), 1)
    lone = CountTable(LABELS)
    lone.add(rows, numbers(9), numbers(1), 1)
    assert one.histogram() == lone.histogram()


def test_an_entry_that_is_both_word_and_pair(rows):
    """Somebody made a pair collide with a word: totals stay those of the entries."""
    pairs = [(fingerprint, part) for fingerprint, _, part in rows.entries(0)]
    made = MessageRows.of([FeatureSet.of([], pairs=pairs)])
    table = CountTable(LABELS)
    table.add(made, numbers(0), numbers(0), 1)
    assert (table.vocabulary, table.presences) == (0, [0, 0, 0])
    assert table.pair_vocabulary == table.pair_presences[0] == len(table)
    table.add(rows, numbers(0), numbers(1), 1)
    words = table.occurrences[1] and table.vocabulary
    assert words > 0
    assert table.presences == [words, words, 0]
    table.add(made, numbers(0), numbers(0), 1, -1)
    table.add(rows, numbers(0), numbers(1), 1, -1)
    assert (table.presences, table.pair_presences) == ([0, 0, 0], [0, 0, 0])
    assert (table.vocabulary, table.pair_vocabulary) == (0, 0)


def test_sums(rows):
    one, other = CountTable(LABELS), CountTable(LABELS)
    one.add(rows, np.arange(30), np.zeros(30, np.int64), 1)
    other.add(rows, np.arange(30, 60), np.ones(30, np.int64), 1)
    keys = [fingerprint_of(word.encode()) for word in WORDS]
    expected = CountTable(LABELS)
    expected.add(rows, np.arange(60), np.arange(60) // 30, 1)
    assert CountSum(one, other).lookup(keys) == expected.lookup(keys)
    grams = range(COUNTERS)
    assert CountSum(one, other).lookup_grams(grams) == expected.lookup_grams(grams)
    words, times = np.array(keys, np.uint64).tobytes(), np.ones(len(keys), np.uint16).tobytes()
    other.add_lesson(words, times, b"\n" * len(keys), b"", b"", [(1, -1)] * 2, 1)
    found = CountSum(one, other).lookup(keys)
    assert min(map(min, found.values())) == 0
    with pytest.raises(ValueError, match="same number of labels"):
        CountSum(one, CountTable(["ham"]))


def test_lessons():
    """A lesson adds, subtracts or moves; its words have texts, its pairs have none."""
    table = CountTable(["ham", "spam"])
    words, times = np.array([3, 9], np.uint64).tobytes(), np.array([2, 700], np.uint16).tobytes()
    pairs, grams = np.array([5], np.uint64).tobytes(), np.array([COUNTERS - 1], np.uint32).tobytes()
    table.add_lesson(words, times, b"three\nnine\n", pairs, grams, [(0, 1)], 30)
    table.add_lesson(words, times, b"three\nnine\n", pairs, grams, [(0, -1), (1, 1)], 20)
    table.add_lesson(pairs, times[:2], b"late\n", b"", b"", [(0, -1)], 20)
    assert table.lookup([3, 5, 9]) == {3: (0, 1, 0, 2), 5: (-1, 1, -2, 0), 9: (0, 1, 0, 700)}
    assert table.lookup_grams([COUNTERS - 1, 4]) == {COUNTERS - 1: (0, 1)}
    merger = Merger(2, [(table, 1, range(2))])
    assert [text for text, *_ in entries_of(merger).values()] == ["three", "", "nine"]
    sums = GramSums(2)
    sums.add(table, 1, range(2))
    assert sums.above_zero() == [(COUNTERS - 1, [0, 1])]


def test_rows_are_chosen_joined_and_pickled(mails, rows):
    pieces = [read_all(mails[:20]), MessageRows(), read_all(mails[20:])]
    joined = MessageRows()
    for piece in pieces:
        joined.extend(piece)
    assert (len(joined), joined.dates) == (60, rows.dates)
    everyone = numbers(*range(60))
    without_texts = joined.chosen(everyone), rows.chosen(everyone)
    assert without_texts[0].__reduce__() == without_texts[1].__reduce__()
    again = pickle.loads(pickle.dumps(rows))
    assert again.__reduce__() == rows.__reduce__()
    assert (len(again), again.dates, again.size) == (60, rows.dates, rows.size)
    assert rows.dates[0].endswith(":00:01")
    some = rows.chosen(numbers(7, 3, 7))
    hashes = np.frombuffer(rows.hashes, np.uint64)
    assert np.frombuffer(some.hashes, np.uint64).tolist() == hashes[[7, 3, 7]].tolist()
    assert some.dates == ["", "", ""]
    assert pickle.loads(pickle.dumps(some)).__reduce__() == some.__reduce__()
    table, expected = CountTable(LABELS), CountTable(LABELS)
    table.add(some, numbers(0, 1), numbers(2, 0), 1)
    expected.add(rows, numbers(7, 3), numbers(2, 0), 1)
    assert (table.histogram(), table.presences) == (expected.histogram(), expected.presences)


def test_damaged_rows_are_refused(rows):
    unpack, (data, checksum) = rows.__reduce__()
    for damaged in (b"", data[:47], data[:48], data[:-1], data + b"0", data[:99] + b"?" + data[100:]):
        with pytest.raises(ValueError, match="damaged"):
            unpack(damaged, checksum)


@pytest.mark.parametrize(
    ("messages", "labels", "day", "sign"),
    [
        (numbers(60), numbers(0), 1, 1),
        (numbers(-1), numbers(0), 1, 1),
        (numbers(0), numbers(3), 1, 1),
        (numbers(0), numbers(-1), 1, 1),
        (numbers(0, 1), numbers(0), 1, 1),
        (numbers(0), numbers(0), 1 << 16, 1),
        (numbers(0), numbers(0), 1, 2),
        (np.zeros(1, np.int32), numbers(0), 1, 1),
    ],
)
def test_wrong_arguments_are_refused(rows, messages, labels, day, sign):
    table = CountTable(LABELS)
    with pytest.raises((IndexError, ValueError)):
        table.add(rows, messages, labels, day, sign)
    assert table.messages == [0, 0, 0]


def test_other_wrong_arguments_are_refused(rows):
    nothing: Any = [None]
    table = CountTable(LABELS)
    word = b"\0" * 8
    for lesson in (
        (word, b"", b"", b"", b"", [], 1),
        (word, b"11", b"a\nb\n", b"", b"", [], 1),
        (b"", b"", b"", b"1", b"", [], 1),
        (b"", b"", b"", b"", b"\xff" * 4, [], 1),
        (b"", b"", b"", b"", b"", [(3, 1)], 1),
        (b"", b"", b"", b"", b"", [(0, 2)], 1),
        (b"", b"", b"", b"", b"", [(0, 1)] * 3, 1),
        (b"", b"", b"", b"", b"", [], -1),
    ):
        with pytest.raises(ValueError, match=r"."):
            table.add_lesson(*lesson)
    for call in (
        lambda: rows.chosen(numbers(60)),
        lambda: rows.chosen(numbers(-1)),
        lambda: CountTable([]),
        lambda: CountTable(["x"] * 101),
        lambda: rows.extend(rows),
        lambda: MessageRows.of(nothing),
        lambda: CountSum.__new__(CountSum).lookup([1]),
        lambda: CountTable.__new__(CountTable),
        lambda: table.lookup([-1]),
        lambda: table.lookup([1 << 64]),
    ):
        with pytest.raises((IndexError, ValueError, TypeError, OverflowError)):
            call()
    assert (Counts().lookup([1]), table.lookup([1]), table.lookup_grams([COUNTERS])) == ({}, {}, {})


def test_a_full_table_says_so():
    """A word that occurs 65535 times in each message, 2^14 of them."""
    table, word, times = CountTable(["ham"]), b"\0" * 8, b"\xff\xff"
    for _ in range(1 << 14):
        table.add_lesson(word, times, b"\n", b"", b"", [(0, 1)], 1)
    assert not table.is_full
    table.add_lesson(word, times, b"\n", b"", b"", [(0, 1)], 1)
    assert table.is_full
    assert table.lookup([0]) == {0: ((1 << 14) + 1, ((1 << 14) + 1) * 0xFFFF)}


ORDER = """
from spamnb.core.native import CountTable
table = CountTable(["ham"])
for n in range(1, 40):
    for word in range(n):
        table.add_lesson(word.to_bytes(8, "little"), b"\\1\\0", b"\\n", b"", b"", [(0, 1)], 1)
print(list(table.histogram()))
"""


def test_hashes_differ_by_process():
    """So that nobody can make fingerprints that are all in one place of the table."""
    runs = [subprocess.run([sys.executable, "-c", ORDER], capture_output=True, check=True) for _ in range(3)]
    assert len({run.stdout for run in runs}) > 1
