"""Blocks of a model file: forged ones are damage, though their checksums hold; never a crash."""

import os
import struct
from zlib import crc32

import msgpack
import pytest
from helpers.forging import forged_model
from helpers.tables import add_message, entries_of, saved, stored

from spamnb.core.native import BLOCK_ENTRIES, CountTable, FileCounts, Merger
from spamnb.errors import ModelError
from spamnb.store.model_file import Column, File
from spamnb.store.stored_model import StoredModel

WORDS = 200
COUNT, WIDTH, WORD_COUNT, TEXT_SIZE, MASK = 0, 1, 2, 4, 8  # offsets in a block
KEYS, HEADER = 16, 16


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """The columns entries and index of a model: four blocks, of words and pairs."""
    table = CountTable(("ham", "spam"))
    for number in range(WORDS):
        add_message(table, "spam", {f"w{number}": 1 + number % 3}, [number * 0x0101010101010101])
    path = saved(tmp_path_factory.mktemp("blocks") / "model", table)
    model = StoredModel.open(path)
    columns = model.columns
    return columns["entries"].read(), columns["index"].read()


def counts_of(folder, entries, index, labels=2):
    """Counts of columns, whose own checksums hold."""
    path = folder / "columns"
    path.write_bytes(entries + index)
    file = File(str(path))
    return FileCounts(
        Column(file, "entries", "B", 0, len(entries), crc32(entries)),
        Column(file, "index", "QII", len(entries), len(index), crc32(index)),
        labels,
    )


def offsets(index):
    return [at for _, at, _ in struct.iter_unpack("<QII", index)]


def resealed(entries, index):
    """An index whose checksums of blocks hold, as far as it leads to any."""
    found = []
    starts = [*offsets(index), len(entries)]
    for number, (key, at, _) in enumerate(struct.iter_unpack("<QII", index)):
        checksum = crc32(entries[at : starts[number + 1]]) ^ number + 1
        found.append(struct.pack("<QII", key, at, checksum))
    return b"".join(found)


def answers(counts, keys):
    """What both ways to read say: a lookup, and a pass over all."""
    found = counts.lookup(keys)
    entries = entries_of(Merger(counts.label_count, [(counts, 1, range(counts.label_count))]))
    assert {key: entries[key][1] for key in keys if key in entries} == found
    return found


def keys_of(entries, index):
    keys: list[int] = []
    for at in offsets(index):
        count = entries[at]
        keys += struct.unpack_from(f"<{count}Q", entries, at + KEYS)
    return keys


def test_what_is_sound_is_found(tmp_path, blocks):
    keys = keys_of(*blocks)
    assert len(keys) == 2 * WORDS == len(answers(counts_of(tmp_path, *blocks), keys))
    assert keys == sorted(keys)


def is_damage(folder, entries, index, keys):
    """Both ways to read tell damage, in these words and no others."""
    with pytest.raises(ModelError, match=r"its column (entries|index) is damaged; "):
        counts_of(folder, entries, index).lookup(keys)
    with pytest.raises(ModelError, match=r"its column (entries|index) is damaged; "):
        list(Merger(2, [(counts_of(folder, entries, index), 1, range(2))]))


@pytest.mark.parametrize("block", [0, 1, -1])
@pytest.mark.parametrize(
    ("at", "size", "values"),
    [
        (COUNT, 1, [0, 1, 2, 63, 65, 255]),
        (WIDTH, 1, [0, 2, 3, 4, 5, 8, 16, 255]),
        (WORD_COUNT, 2, [0, 1, 63, 64, 65, 65535]),
        (TEXT_SIZE, 4, [0, 1, 60_001, 65_536, (1 << 31) - 1, (1 << 32) - 1]),
        (MASK, 8, [0, 1, (1 << 64) - 1, 1 << 63]),
    ],
)
def test_every_number_of_a_header_is_checked(tmp_path, blocks, block, at, size, values):
    entries, index = blocks
    keys, start = keys_of(*blocks), offsets(index)[block] + at
    for value in values:
        forged = entries[:start] + value.to_bytes(size, "little") + entries[start + size :]
        if forged != entries:
            is_damage(tmp_path, forged, resealed(forged, index), keys)


def test_fingerprints_and_texts_are_in_order(tmp_path, blocks):
    entries, index = blocks
    keys, start = keys_of(*blocks), offsets(index)[1]
    count, words, text_size = struct.unpack_from("<BxHI", entries, start)
    ends = offsets(index)[2] - text_size - 2 * words
    for at, kind, value in (
        (start + KEYS, "Q", 0),  # not what the index says
        (start + KEYS + 8, "Q", 0),
        (start + KEYS + 8, "Q", keys[BLOCK_ENTRIES]),  # twice
        (start + KEYS + 8 * (count - 1), "Q", (1 << 64) - 1),  # behind the next block
        (start + KEYS + 8 * (count - 1), "Q", keys[2 * BLOCK_ENTRIES]),
        (ends, "H", 65535),
        (ends + 2 * words - 2, "H", 0),
        (ends + 2 * words - 2, "H", text_size + 1),
    ):
        forged = bytearray(entries)
        struct.pack_into(f"<{kind}", forged, at, value)
        is_damage(tmp_path, bytes(forged), resealed(bytes(forged), index), keys)


def test_an_index_that_lies(tmp_path, blocks):
    entries, index = blocks
    keys, records = keys_of(*blocks), [list(each) for each in struct.iter_unpack("<QII", index)]
    for number, field, value in (
        (0, 1, 1),  # a block that starts late
        (1, 1, 0),  # empty, or twice the same
        (1, 1, records[2][1]),
        (1, 1, records[1][1] - 1),
        (2, 1, records[1][1]),
        (-1, 1, len(entries)),
        (-1, 1, (1 << 32) - 1),
        (1, 0, 0),
        (1, 0, records[0][0]),
        (2, 0, (1 << 64) - 1),
        (0, 0, 5),
    ):
        forged = [list(each) for each in records]
        forged[number][field] = value
        packed = b"".join(struct.pack("<QII", *each) for each in forged)
        is_damage(tmp_path, entries, packed, keys)
        is_damage(tmp_path, entries, resealed(entries, packed), keys)
    is_damage(tmp_path, entries, b"", keys)
    is_damage(tmp_path, entries, index[:-16], keys)
    is_damage(tmp_path, b"", index, keys)
    is_damage(tmp_path, entries, index + index[-16:], keys)
    swapped = index[:8] + index[24:32] + index[16:24] + index[8:16] + index[32:]
    is_damage(tmp_path, entries, swapped, keys)


def test_a_block_that_is_moved_is_damage(tmp_path):
    """Checksums know the number of their block: zeros, or a block of another place, do not pass."""
    model = stored(tmp_path, {n << 50: (1, 1) for n in range(1, 200)})
    entries, index = model.columns["entries"].read(), bytearray(model.columns["index"].read())
    index[12:16], index[28:32] = index[28:32], index[12:16]
    is_damage(tmp_path, entries, bytes(index), [1 << 50])


def test_high_counts_are_taken_for_less(tmp_path):
    """2^64 - 1 messages, which nobody wrote: sums do not overflow."""
    block = struct.pack(
        "<BBHIQQ2QH2QHH1s", 1, 8, 1, 1, 1, 9, *2 * [(1 << 64) - 1], 1, *2 * [(1 << 64) - 1], 1, 1, b"x"
    )
    index = struct.pack("<QII", 9, 0, crc32(block) ^ 1)
    counts = counts_of(tmp_path, block, index)
    assert answers(counts, [9]) == {9: (1 << 46,) * 4}
    (found,) = entries_of(Merger(2, [(counts, 1, [0, 0])] * 3)).values()
    assert found[1] == (1 << 46, 0, 1 << 46, 0)


def test_other_labels_than_the_blocks_have(tmp_path, blocks):
    for labels in (1, 3, 100):
        with pytest.raises(ModelError, match="its column entries is damaged"):
            counts_of(tmp_path, blocks[0], blocks[1], labels).lookup(keys_of(*blocks))
    for labels in (0, -1, 101):
        with pytest.raises(ValueError, match="not the columns"):
            counts_of(tmp_path, blocks[0], blocks[1], labels)


def test_a_file_cut_short_while_it_is_open(tmp_path):
    """If the file were mapped, this would kill its readers."""
    model = stored(tmp_path, {n << 52: (1, 1) for n in range(1, 4000)})
    model.counts.lookup([1 << 52])  # the index is read
    os.truncate(model.path, model.columns["entries"].at + 600)
    for number in (100, 2000, 3999):
        with pytest.raises(ModelError, match="its column entries is damaged"):
            model.counts.lookup([number << 52])
    with pytest.raises(ModelError, match="its column entries is damaged"):
        list(model.entries())
    with pytest.raises(ModelError, match="cut short"):
        model.columns["index"].read()


# Columns and head


def test_msgpack_reads_all_of_it(tmp_path):
    model = stored(tmp_path, {n << 52: (1, 1) for n in range(1, 400)})
    with open(model.path, "rb") as file:
        read = msgpack.load(file)
    assert read.pop("head") == model.head
    assert [*read][:3] == ["format", "version", "crc32"]
    assert {name: read[name] for name in [*read][3:]} == {
        name: column.read() for name, column in model.columns.items()
    }


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("columns", 0, 0), "index"),
        (("columns", 0, 0), "other"),
        (("columns", 0, 1), "H"),
        (("columns", 1, 1), "Q"),
        (("columns", 1, 1), ""),
        (("columns", 2, 1), "QBf"),
        (("columns", 3, 1), "H"),
        (("columns", 4, 1), "f"),
        (("columns", 4, 1), "BH"),
        (("columns", 4, 1), None),
        (("columns", 0, 2), -1),
        (("columns", 0, 2), 1.5),
        (("columns", 1, 2), 17),
        (("columns", 0, 3), None),
        (("columns", 4), ...),
        (("columns",), []),
    ],
)
def test_columns_are_those_of_a_model(tmp_path, place, value):
    model = stored(tmp_path, {1 << 52: (1, 1)})
    with open(model.path, "rb") as file:
        forged = forged_model(file.read(), place, value)
    path = tmp_path / "forged"
    path.write_bytes(forged)
    with pytest.raises(ModelError, match="the beginning of the file is damaged"):
        StoredModel.open(str(path))
