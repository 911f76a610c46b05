"""A model in parts: written part by part it is the same file, and the parts add up to the whole."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.tables import ABOUT, assert_same, bulk

from spamnb.arrays import Texts
from spamnb.exchange import merging
from spamnb.exchange.merging import merge
from spamnb.inspection.check import check
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import LearnedMessages, merge_learned
from spamnb.tables.loading import load_shard, load_table
from spamnb.tables.saving import save
from spamnb.training import writing
from spamnb.training.learn import learn

PARTS = (1, 2, 8, 64)


def drawn(many, seed=1, labels=("ham", "spam", "list"), top=9):
    """A table of many tokens, half of them pairs."""
    chance = np.random.default_rng(seed)
    fingerprints = np.unique(chance.integers(0, 1 << 64, many, np.uint64, endpoint=False))
    words = np.arange(len(fingerprints)) % 2 == 0
    lengths = chance.integers(1, 30, len(fingerprints)) * words
    message_counts = chance.integers(0, top, (len(labels), len(fingerprints))).astype(np.int32)
    message_counts[0] += 1
    return CountTable(
        labels,
        tuple(range(100, 100 + len(labels))),
        {"size": [[1, 2, 4]] * len(labels)},
        fingerprints,
        Texts(np.cumsum(lengths), chance.integers(97, 123, int(lengths.sum()), np.uint8)),
        message_counts,
        (message_counts * chance.integers(1, 5, message_counts.shape) * words).astype(np.int32),
        chance.integers(0, 60_000, len(fingerprints)).astype(np.uint16) // 2 * words,
        chance.integers(0, 60_000, len(fingerprints)).astype(np.uint16) // 2,
        LearnedMessages.of([3, 2**63, 2**64 - 1], [0, 1, 2], [0.5, 1.5, -2.5]),
    )


def settled_days(table):
    """A pair has one day only."""
    return replace(table, first_days=np.where(table.words, table.first_days, table.last_days))


def parts_of(table, many):
    return [table.shard(number, many) for number in range(many)]


@pytest.mark.parametrize("many", [0, 1, 17, 5000])
@pytest.mark.parametrize("top", [9, 300, 70_000])
def test_the_same_file_in_however_many_parts(many, top, tmp_path):
    table = settled_days(drawn(many, top=top))
    files = []
    for number in PARTS:
        path = str(tmp_path / str(number))
        os.rename(
            save(path, parts_of(table, number), table.learned, {**ABOUT, "labels": list(table.labels)}), path
        )
        files.append(Path(path).read_bytes())
        assert check(path).damage == []
    assert len(set(files)) == 1
    assert_same(load_table(StoredModel.open(str(tmp_path / "64"))), table)


def test_a_file_is_read_in_parts_with_its_journal(own):
    for number, raw in enumerate([b"Subject: one\n\nnew words\n", b"Subject: two\n\nbuy viagra\n"]):
        learn(own, raw, "spam")
        learn(own, raw + b"more", "ham")
        if number:
            learn(own, raw + b"more", None)
    stored = StoredModel.open(own)
    whole = load_table(stored)
    for many in PARTS:
        parts = [load_shard(stored, number, many) for number in range(many)]
        assert_same(sum_tables(parts), replace(whole, learned=LearnedMessages.of([], [])))
        for number, part in enumerate(parts):
            assert_same(part, whole.shard(number, many))
            assert np.array_equal(part.first_days, whole.shard(number, many).first_days)
        learned = [LearnedMessages.load(stored, number, many) for number in range(many)]
        assert sum(map(len, learned)) == len(whole.learned)
        assert np.array_equal(merge_learned(learned).digests, whole.learned.digests)
        assert np.array_equal(merge_learned(learned).labels, whole.learned.labels)


def test_models_merged_in_many_parts_are_the_same_file(tmp_path, monkeypatch):
    models = []
    for seed in (1, 2):
        models.append(str(tmp_path / str(seed)))
        writing.write(
            models[-1], replace(drawn(1000, seed), learned=LearnedMessages.of([seed], [0], [1.0])), Settings()
        )
    written = []
    for size in (1 << 10, 1 << 12, 1 << 25):
        monkeypatch.setattr(merging, "SHARD_SIZE", size)
        out = tmp_path / f"out{size}"
        merge(str(out), models)
        written.append(out.read_bytes())
    assert len(set(written)) == 1
    whole = sum_tables([load_table(StoredModel.open(path)) for path in models])
    assert_same(load_table(StoredModel.open(str(tmp_path / "out1024"))), whole)


# Not getrusage: that begins with what the parent had.
MEASURED = """
import sys
from spamnb.exchange import merging
merging.SHARD_SIZE = int(sys.argv[1])
def peak():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before = peak()
merging.merge(sys.argv[2], sys.argv[3:])
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_is_bounded_by_the_size_of_a_part(tmp_path):
    """Two models of 200,000 tokens, 6 MB each."""
    many, chance, paths = 200_000, np.random.default_rng(1), [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        fingerprints = np.unique(chance.integers(0, 1 << 63, many, np.uint64) * np.uint64(2))
        text, ones = chance.integers(97, 123, 8 * many, np.uint8), np.ones((2, many), np.int32)
        ends, days = np.cumsum(np.full(many, 8)), np.ones(many, np.uint16)
        table = CountTable(
            ("ham", "spam"), (1, 1), {}, fingerprints, Texts(ends, text), ones, ones, days, days
        )
        writing.write(path, table, Settings())
    used = []
    for part in (1 << 19, 1 << 30):
        command = [sys.executable, "-c", MEASURED, str(part), str(tmp_path / f"out{part}"), *paths]
        used.append(int(subprocess.run(command, capture_output=True, check=True).stdout))
    assert used[0] < min(20_000, used[1] / 3)


def test_a_word_that_is_left_in_messages_still_occurs():
    """Forgotten after it was pruned: it may have occurred more often there than it does by now."""
    word = bulk([("ham", {"mill": 1, "moon": 2})])
    left = sum_tables([word, word, bulk([("ham", {"moon": 9})]).scaled(-1)]).clipped()
    assert left.tokens(range(len(left))) in (["mill", "moon"], ["moon", "mill"])
    assert left.words.all()
    assert (left.occurrence_counts >= left.message_counts).all()
