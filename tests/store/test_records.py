"""A model that is open: cut short meanwhile, shared by threads, and left without a handle."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.tables import stored

from spamnb.errors import ModelError
from spamnb.model import Model
from spamnb.training.learn import learn


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
