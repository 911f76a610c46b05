"""Records of the history: what was written is read, whatever became of its neighbours."""

import random

from spamnb.bayes.verdict import Cutoffs, Verdict
from spamnb.history import log

VERDICT = Verdict("spam", 2.5, 0.9, {"ham": 0.1, "spam": 0.9}, (), Cutoffs(-1.0, 1.0))


def record(raw=b"Subject: x\n\nbody\n", user=""):
    return log.packed_record(raw, VERDICT, "/model", "classify", user, 17.5, [14, 10**8])


def read(data):
    """The messages of the sound records."""
    found, _ = log.unpacked_records(data)
    return [log.message_of(fields) for _, _, fields in found]


def test_of_a_large_message_the_start_is_kept_and_its_digest():
    raw = b"Subject: x\n\n" + random.Random(1).randbytes(2 << 20)
    [(_, _, fields)], _ = log.unpacked_records(record(raw))
    assert log.message_of(fields) == raw[: log.MAX_MESSAGE]
    assert fields["digest"] == log.hash_of_raw(raw) != log.hash_of_raw(raw[: log.MAX_MESSAGE])
    assert len(record(raw)) <= log.MAX_RECORD


def test_a_record_cut_off_or_damaged_anywhere_costs_no_other():
    first, second, third = (record(b"%d" % n) for n in range(3))
    for at in range(len(second)):
        found, done = log.unpacked_records(first + second[:at])
        assert len(found) == 1
        assert done == len(first)  # it may be on its way: the rest is looked at again
        assert read(first + second[:at] + third) == [b"0", b"2"]
        damaged = bytearray(second)
        damaged[at] ^= 0xFF
        assert read(first + damaged + third) == [b"0", b"2"]
    assert read(random.Random(2).randbytes(10_000) + first) == [b"0"]


def test_no_message_looks_like_a_record():
    """Random bytes are not compressed: what they hide would be seen as it is, once the record is torn."""
    noise = random.Random(3).randbytes(1000)
    outer = record(noise + record(b"forged") + noise)
    assert read(outer[:-1] + record(b"next")) == [b"next"]
