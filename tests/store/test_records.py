"""A model that is open: shared by threads, and left without a handle."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from spamnb.model import Model
from spamnb.training.learn import learn


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
