"""Records are found by two reads of the file, whatever their fingerprints are and however damaged it is."""

import os
import random
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zlib import crc32

import msgpack
import pytest
from helpers.forging import forged_model
from helpers.tables import counts_of, crowded, stored

from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.model import Model
from spamnb.store import records
from spamnb.store.records import LONGEST_SCANNED
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

TOP = 2**64 - 1


def neighbours(numbers):
    return {(number + step) & TOP for number in numbers for step in (-1, 1)}


SIZES = [0, 1, 16, 17, 129, 3000]


@pytest.mark.parametrize("size", SIZES)
def test_each_is_found_and_no_other(tmp_path, size):
    chance = random.Random(size)
    numbers = {*[0, TOP, 1, 2**63, 2**63 - 1][:size], *(chance.getrandbits(64) for _ in range(size - 5))}
    rows = {number: counts_of(number) for number in numbers}
    others = neighbours(numbers) - numbers | {chance.getrandbits(64) for _ in range(100)}
    pairs = {chance.getrandbits(64): counts_of(chance.getrandbits(9))[:2] for _ in range(size)}
    table = stored(tmp_path, rows, pairs)
    assert len(rows) == size
    assert table.rows([*numbers, *others]) == rows
    assert table.rows(sorted(others)) == {}
    assert table.rows(list(numbers)) == rows  # some remembered
    assert table.pair_rows([*pairs, *neighbours(pairs), *numbers]) == pairs


LOOKING = 200  # bytes that it takes, at most, to look how many were read; and one read


class Reads:
    """Reads of this thread, as Linux counts them, from when they were last asked for."""

    def __init__(self):
        self.before = self.now()

    def now(self):
        handle = os.open("/proc/thread-self/io", os.O_RDONLY)
        fields = dict(line.split(b": ") for line in os.read(handle, LOOKING).splitlines())
        os.close(handle)
        return int(fields[b"rchar"]), int(fields[b"syscr"])

    def since(self):
        """How many bytes were read, and in how many reads."""
        before, self.before = self.before, self.now()
        return self.before[0] - before[0], self.before[1] - before[1]


def test_a_crowded_stretch_is_verified_once_and_searched_by_halves(tmp_path, monkeypatch):
    table, crowd = crowded(tmp_path)
    monkeypatch.setattr(records, "RECORDS_AT_ONCE", 3000)
    width = table.column("tokens").width
    reads = Reads()
    assert table.rows([crowd[7]]) == {crowd[7]: counts_of(crowd[7])}
    size, count = reads.since()
    assert size > len(crowd) * width
    assert count > len(crowd) / 3000
    known = set(crowd)
    for number in (crowd[0], crowd[1], crowd[LONGEST_SCANNED], crowd[-1], *crowd[::997]):
        for asked in (number, number + 1):
            expected = {asked: counts_of(asked)} if asked in known else {}
            assert table.rows([asked]) == expected
            size, count = reads.since()
            assert count <= 2 + (20_000 // LONGEST_SCANNED).bit_length() + 1 + 1
            assert size < LONGEST_SCANNED * width * 2 + LOOKING
    assert table.rows([(0xABCD << 48) - 1, (0xABCE << 48)]) == {}


@pytest.mark.parametrize("at", [0, 10_007, 19_999])
def test_a_crowded_stretch_that_is_damaged(tmp_path, at):
    """Wherever it is, whoever is looked for there."""
    table, crowd = crowded(tmp_path)
    content = bytearray(table.column("tokens").read())
    where = content.index(crowd[at].to_bytes(8, "little"))
    content[where + 9] ^= 1
    found = StoredModel.open(damaged(tmp_path, "tokens", bytes(content)))
    others = [number for number, *_ in struct.iter_unpack("<QBBBB", table.column("tokens").read())]
    others = [number for number in others if number >> 53 != crowd[0] >> 53]
    assert found.rows(others) == {number: counts_of(number) for number in others}
    for number in (crowd[0], crowd[at], crowd[-1], crowd[6] + 1):
        for _ in range(2):  # nor does it pass the second time
            with pytest.raises(ModelError, match="its column tokens or starts is damaged"):
                found.rows([number])


# Damage: every stretch that is read is verified


def damaged(folder, column, content):
    """The same model with other bytes in a column."""
    path = folder / "model"
    model = msgpack.unpackb(path.read_bytes())
    at = path.read_bytes().index(model[column]) if model[column] else 0
    assert len(content) == len(model[column])
    whole = path.read_bytes()
    (folder / "damaged").write_bytes(whole[:at] + content + whole[at + len(content) :])
    return str(folder / "damaged")


def asked(path, numbers):
    """The bytes that looking numbers up reads, and what came of it."""
    table, reads = StoredModel.open(path), Reads()
    try:
        result: object = table.rows(numbers)
    except ModelError as error:
        result = error.why
    return reads.since()[0], result


WRONG = {
    "all ones": lambda size: b"\xff" * size,
    "all zeros": lambda size: bytes(size),
    "far behind the file": lambda size: struct.pack("<I", 2**31) * (size // 4),
    "a stretch that ends nowhere": lambda size: (struct.pack("<IIII", 0, 1, TOP >> 32, 2) * size)[:size],
    "a stretch that ends before it begins": lambda size: (struct.pack("<IIII", 90, 1, 3, 2) * size)[:size],
    "a stretch of all": lambda size: (struct.pack("<IIII", 0, 1, 1000, 2) * size)[:size],
    "noise": lambda size: random.Random(1).randbytes(size),
}


@pytest.mark.parametrize("how", WRONG)
def test_a_damaged_directory_is_an_error(tmp_path, how):
    """Told before anything is read that is not there."""
    chance = random.Random(3)
    rows = {chance.getrandbits(64): (1, 2, 3, 4) for _ in range(1000)}
    table = stored(tmp_path, rows)
    path = damaged(tmp_path, "starts", WRONG[how](table.column("starts").size))
    found = [asked(path, [number]) for number in rows]
    most = sum(table.column(name).size for name in ("starts", "tokens"))
    assert max(size for size, _ in found) <= most + LOOKING
    assert {result for _, result in found} == {f"its column tokens or starts is damaged; {WHAT_TO_DO}"}


@pytest.mark.parametrize(
    ("column", "kind", "content"),
    [
        ("starts", "II", b""),
        ("starts", "II", bytes(8)),
        ("starts", "II", bytes(32)),
        ("starts", "II", bytes(15)),
        ("starts", "I", bytes(12)),
        ("tokens", "QBBBB", bytes(13)),
        ("pair_starts", "II", bytes(80)),
    ],
)
def test_a_head_that_describes_no_records_is_damage(tmp_path, column, kind, content):
    path = stored(tmp_path, {n << 60: (1, 1, 1, 1) for n in range(16)}).path
    data = Path(path).read_bytes()
    index = [name for name, *_ in StoredModel.open(path).head["columns"]].index(column)
    told = [column, kind, len(content), crc32(content)]
    Path(path).write_bytes(forged_model(data, ("columns", index), told, **{column: content}))
    with pytest.raises(ModelError, match=r"head is damaged.*--fresh"):
        StoredModel.open(path)


def test_a_file_cut_short_while_it_is_open(tmp_path):
    """Mapped, this would kill who looks."""
    table = stored(tmp_path, {n << 52: (1, 1, 1, 1) for n in range(1, 4000)})
    os.truncate(table.path, 600)
    with pytest.raises(ModelError, match="cut short"):
        table.column("tokens").read()
    with pytest.raises(ModelError, match="cut short"):
        table.label_of(1) or table.histogram()
    for number in range(4000):
        with pytest.raises(ModelError, match="its column tokens or starts is damaged"):
            table.rows([number << 52])


# Many


def test_threads_may_share_a_model(own, mail):
    model = Model.open(own)
    expected = {raw: model.classify(raw).score for raw in mail.messages.values()}
    turn = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda raw: (raw, model.classify(raw).score), [*expected] * 40))
    finally:
        sys.setswitchinterval(turn)
    assert all(score == expected[raw] for raw, score in found)


def test_no_handle_is_left_open(own, mail):
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    for number in range(20):
        Model.open(own).classify(mail.messages["spam"])
        learn(own, b"Subject: %d\n\nmore" % number, "ham")
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    assert after == before
