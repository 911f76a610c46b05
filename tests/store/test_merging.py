"""One pass over tables, runs and model files: their sum, whatever it is cut into."""

import os
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest
from helpers.tables import ABOUT, add_message, contents, entries_of, saved
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import MAX_BLOCK_TEXT, CountTable, LearnedMessages, Merger
from spamnb.store import merging
from spamnb.store.merging import Run, Source, merged, write_run
from spamnb.store.stored_model import StoredModel, load_learned
from spamnb.store.writing import write_model

LABELS = ("ham", "spam", "list")
WORDS = [f"wort{n}" for n in range(60)] + ["fünf", "六", "a" * 700]
PAIRS = [(n + 1) * 0x0123456789ABCDEF % (1 << 64) for n in range(60)]
messages = st.tuples(
    st.sampled_from(LABELS),
    st.dictionaries(st.sampled_from(WORDS), st.integers(1, 300), max_size=20),
    st.sets(st.sampled_from(PAIRS), max_size=20),
    st.sets(st.sampled_from([0, 7, (1 << 18) - 1]), max_size=2),
    st.sampled_from([1, 1, 1, -1]),  # learned or taken away
    st.integers(1, 9),  # day
)
pieces = st.lists(st.lists(messages, max_size=6), min_size=1, max_size=5)


def table_of(some, labels=LABELS):
    table = CountTable(labels)
    for label, words, pairs, grams, sign, day in some:
        add_message(table, label, words, pairs, grams, sign, day)
    return table


def summed(some, labels=LABELS, place=None):
    """The counts of messages by hand: {text or fingerprint: (counts, first day, last day)}."""
    place = place or {label: labels.index(label) for label in labels}
    found: dict = {}
    for label, words, pairs, _, sign, day in some:
        for key, times in [*words.items(), *((pair, 0) for pair in pairs)]:
            row, first, last = found.setdefault(key, ([0] * 2 * len(labels), day, day))
            if place[label] >= 0:
                row[place[label]] += sign
                row[len(labels) + place[label]] += sign * times
            found[key] = row, min(first, day), max(last, day)
    limited = {}
    for key, (row, first, last) in found.items():
        messages = [max(count, 0) for count in row[: len(labels)]]
        times = [
            max(pair) if isinstance(key, str) else 0
            for pair in zip(row[len(labels) :], messages, strict=True)
        ]
        if any(messages):
            limited[key] = (*messages, *times), first, last
    return limited


def by_text(entries):
    """Entries in the same form; the first day of a pair is not kept in a file."""
    return {text or key: (row, first, last) for key, (text, row, first, last) in entries.items()}


def without_first_days_of_pairs(found):
    return {
        key: (row, first if isinstance(key, str) else 0, last) for key, (row, first, last) in found.items()
    }


def of_model(path):
    return without_first_days_of_pairs(by_text(contents(path)["entries"]))


def bytes_of(folder, sources, **how):
    path = str(folder / "model")
    new = write_model(path, merged(LABELS, sources, folder=str(folder), **how), LearnedMessages(), ABOUT)
    return Path(new).read_bytes()


@given(pieces)
def test_the_merge_of_tables_is_the_sum_of_their_messages(some):
    tables = [(table_of(piece), 1, range(3)) for piece in some]
    assert by_text(entries_of(Merger(3, tables))) == summed([message for piece in some for message in piece])


@given(pieces)
def test_a_table_that_is_subtracted(some):
    added, taken = some[0], [message for piece in some[1:] for message in piece]
    negative = [(*message[:4], -message[4], message[5]) for message in taken]
    found = entries_of(Merger(3, [(table_of(added), 1, range(3)), (table_of(taken), -1, range(3))]))
    assert by_text(found) == summed(added + negative)


@given(pieces)
def test_the_same_bytes_from_any_cut_into_runs_and_models(tmp_path_factory, some):
    some = [[(*message[:4], 1, message[5]) for message in piece] for piece in some]  # runs count upwards
    folder = tmp_path_factory.mktemp("cut")
    whole = table_of([message for piece in some for message in piece])
    expected = bytes_of(folder, [Source(whole)])
    tables = [table_of(piece) for piece in some]
    without_grams = [table_of([(*message[:3], (), *message[4:]) for message in piece]) for piece in some]
    only_grams = table_of(
        [(label, {}, (), grams, 1, 1) for piece in some for label, _, _, grams, *_ in piece]
    )
    runs = [Source(write_run([table], str(folder))) for table in without_grams]
    assert bytes_of(folder, [Source(table) for table in tables]) == expected
    assert bytes_of(folder, [Source(only_grams), *runs]) == expected
    model = StoredModel.open(saved(folder / "first", tables[0]))
    assert bytes_of(folder, [Source(model), *map(Source, tables[1:])]) == expected


@given(pieces, st.permutations(LABELS), st.sampled_from([None, "ham", "list"]))
def test_labels_are_renamed_joined_and_left_out(some, order, spam):
    some = [message for piece in some for message in piece]
    place = {label: order.index(label) for label in order}
    targets = [place[label] for label in LABELS]
    assert by_text(entries_of(Merger(3, [(table_of(some), 1, targets)]))) == summed(some, order)
    left = ["ham", "list"]
    joined = {"ham": 0, "list": 1, "spam": -1 if spam is None else left.index(spam)}
    table = table_of(some)
    new = merged(left, [Source(table)], relabel={"spam": spam})
    expected = summed(some, left, joined)
    assert new.totals.vocabulary + new.totals.pair_vocabulary == len(expected)
    of_words = [row for key, (row, _, _) in expected.items() if isinstance(key, str)]
    assert new.totals.presences == [sum(row[k] for row in of_words) for k in range(2)]
    assert new.totals.occurrences == [sum(row[2 + k] for row in of_words) for k in range(2)]
    if spam is None:
        assert all(len(counts) == 2 for _, counts in new.grams.above_zero())


@given(pieces, st.integers(0, 10), st.integers(-1, 4))
def test_rare_and_old_entries_are_pruned(some, day, rare):
    some = [message for piece in some for message in piece]
    found = by_text(entries_of(Merger(3, [(table_of(some), 1, range(3))], None, day, rare)))
    kept = {
        key: (row, first, last)
        for key, (row, first, last) in summed(some).items()
        if last >= day or sum(row[:3]) > rare
    }
    assert found == kept


@given(pieces)
def test_a_model_is_read_as_it_was_written(tmp_path_factory, some):
    folder = tmp_path_factory.mktemp("round")
    some = [message for piece in some for message in piece]
    path = saved(folder / "model", table_of(some))
    expected = without_first_days_of_pairs(summed(some))
    found = of_model(path)
    assert {key: value[::2] for key, value in found.items()} == {k: v[::2] for k, v in expected.items()}
    model = StoredModel.open(path)
    keys = {key: row for key, (_, row, _, _) in contents(path)["entries"].items()}
    assert model.counts.lookup([*keys, 1, 2, (1 << 64) - 1]) == keys
    table = CountTable.of_file(LABELS, model.file_counts)
    assert table.lookup(keys) == keys


def test_counts_of_any_width_and_long_texts(tmp_path):
    table = CountTable(("ham", "spam"))
    rows = {}
    for number in range(1, 400):
        key = number * 0x9E3779B97F4A7C15 % (1 << 64)
        rows[key] = (number ** (1 + number % 4) % (1 << 31), number % 3)
        table.add_word(key, b"%d " % number * (number % 500), list(rows[key]), number)
    table.add_word(5, b"x" * (MAX_BLOCK_TEXT + 9), [1, 0], 3)
    path = saved(tmp_path / "model", table)
    found = contents(path)["entries"]
    assert found.pop(5) == ("x" * MAX_BLOCK_TEXT, (1, 0, 1, 0), 3, 3)
    assert {key: row[:2] for key, (_, row, _, _) in found.items()} == rows


def test_counts_beyond_32_bits_are_kept(tmp_path):
    table = CountTable(("ham", "spam"))
    table.add_word(9, b"many", [1 << 30, 1], 1)
    path = saved(tmp_path / "one", table)
    model = StoredModel.open(path)
    os.replace(
        write_model(path, merged(("ham", "spam"), [Source(model)] * 6), LearnedMessages(), ABOUT), path
    )
    assert StoredModel.open(path).counts.lookup([9]) == {9: (6 << 30, 6, 6 << 30, 6)}


def test_a_table_is_filled_with_the_sums(tmp_path):
    some = [("ham", {"one": 2, "two": 1}, [77], [7], 1, 1), ("spam", {"one": 1}, [], [], 1, 2)]
    sample = table_of([("ham", {"one": 5, "three": 1}, [77], [], 1, 1)])
    merged(LABELS, [Source(table_of(some)), Source(write_run([table_of(some)], str(tmp_path)))], fill=sample)
    entries = entries_of(Merger(3, [(sample, 1, range(3))]))
    assert {text: row for text, row, _, _ in entries.values()} == {
        "one": (2, 2, 0, 4, 2, 0),
        "": (2, 0, 0, 0, 0, 0),
    }
    assert sample.lookup_grams([7]) == {7: (1, 0, 0)}


def test_a_table_that_is_changed_meanwhile_is_an_error():
    table = table_of([("ham", {"one": 1}, [], [], 1, 1)])
    merger = Merger(3, [(table, 1, range(3))])
    add_message(table, "spam", {"two": 1})
    with pytest.raises(RuntimeError, match="changed"):
        next(merger)


@pytest.mark.parametrize(
    "wrong",
    [
        (0, []),
        (101, []),
        (3, [(CountTable(LABELS), 2, range(3))]),
        (3, [(CountTable(LABELS), 1, range(2))]),
        (3, [(CountTable(LABELS), 1, [0, 1, 3])]),
        (3, [(CountTable(LABELS), 1, [0, 1, -2])]),
        (3, [], CountTable(["one"])),
    ],
)
def test_sources_that_do_not_match(wrong):
    with pytest.raises(ValueError, match=r"label|sign"):
        Merger(*wrong)


# Learned messages


def test_learned_messages_are_read_as_they_were_written(tmp_path):
    learned, nan = LearnedMessages(), float("nan")
    for message in ((9, 1, 0.5, 1), (1 << 63, 0, nan, 2), (3, 1, -1e300, 3), (5, 0, 7, 7), (5, -1, 7, 7)):
        learned.set(*message)
    path = saved(tmp_path / "model", CountTable(("ham", "spam")), learned)
    found = load_learned(StoredModel.open(path)).messages()
    assert repr(found) == repr([(3, 1, -inf, 3.0), (9, 1, 0.5, 1.0), (1 << 63, 0, nan, 2.0)])
    labels = [StoredModel.open(path).label_of(digest) for digest in (3, 9, 1 << 63, 4)]
    assert labels == ["spam", "spam", "ham", None]


# Disks


def test_large_columns_are_in_files_without_a_name(tmp_path, monkeypatch):
    some = [("ham", dict.fromkeys(WORDS, 3), PAIRS, [7], 1, 1)]
    expected = bytes_of(tmp_path, [Source(table_of(some))])
    monkeypatch.setattr(merging, "IN_MEMORY", 100)
    assert bytes_of(tmp_path, [Source(table_of(some))]) == expected
    run = write_run([table_of(some)], str(tmp_path))
    assert isinstance(run, Run)
    assert os.listdir(tmp_path) == ["model.new"]


FULL = """
import resource, signal, sys
from helpers.tables import ABOUT
from spamnb.core.native import CountTable, LearnedMessages
from spamnb.errors import CannotCreate
from spamnb.store import merging
from spamnb.store.writing import write_model
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
table = CountTable(("ham", "spam"))
for number in range(1, 9000):
    table.add_word(number << 40, b"%d" % number, [1, 2], 1)
new = merging.merged(table.labels, [merging.Source(table)])
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
merging.IN_MEMORY = 1000
for what in (
    lambda: write_model(sys.argv[1] + "/model", new, LearnedMessages(), ABOUT),
    lambda: merging.merged(table.labels, [merging.Source(table)], folder=sys.argv[1]),
    lambda: merging.write_run([table], sys.argv[1]),
):
    try:
        what()
    except CannotCreate as error:
        print(error)
"""


def test_a_full_disk_leaves_nothing(tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(said) == 3
    assert all("File too large" in line and str(tmp_path) in line for line in said)
    assert os.listdir(tmp_path) == []
