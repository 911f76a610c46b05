"""Records are found whatever their fingerprints are, by whoever looks, in a file that is there no more."""

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.tables import counts_of, stored

from spamnb.errors import ModelError
from spamnb.model import Model
from spamnb.training.learn import learn

TOP = 2**64 - 1


def neighbours(numbers):
    return {(number + step) & TOP for number in numbers for step in (-1, 1)}


@pytest.mark.parametrize("size", [0, 1, 17, 3000])
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
