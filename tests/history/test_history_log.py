"""Records of the history: what was written is read, whatever became of its neighbours."""

import os
import random
import time
from collections.abc import Callable
from functools import partial

import pytest

from spamnb.bayes.verdict import Cutoffs, Verdict
from spamnb.configuration.quantities import parse_days, parse_size
from spamnb.errors import UsageError
from spamnb.history import log

VERDICT = Verdict("spam", 2.5, 0.9, {"ham": 0.1, "spam": 0.9}, (), Cutoffs(-1.0, 1.0))
EVERY_BYTE = bytes(range(256)) + log.MARK * 2 + log.STEM + log.ESCAPED + log.STEM[:3]


def record(raw=b"Subject: x\n\nbody\n", user=""):
    return log.packed_record(raw, VERDICT, "/model", "classify", user, 17.5, [14, 10**8])


def read(data):
    """The messages of the sound records."""
    found, _ = log.unpacked_records(data)
    return [log.message_of(fields) for _, _, fields in found]


@pytest.mark.parametrize(
    ("raw", "user"),
    [(b"", ""), (EVERY_BYTE, "ann"), (b"Subject: \xff\n\n", "\udcff\x1b\n"), (b"x" * 3, "x" * 10**5)],
)
def test_any_bytes_come_back(raw, user):
    data = record(raw, user)
    assert data.count(log.MARK) == 1
    [(start, end, fields)], done = log.unpacked_records(data)
    assert (start, end, done) == (0, len(data), len(data))
    assert log.message_of(fields) == raw
    assert (fields["time"], fields["verdict"], fields["cutoffs"]) == (17.5, "spam", [-1.0, 1.0])
    assert (bytes(fields["model"]), fields["size"]) == (b"/model", len(raw))
    assert len(fields["user"]) <= log.MAX_TEXT


def test_of_a_large_message_the_start_is_kept_and_its_digest():
    raw = b"Subject: x\n\n" + random.Random(1).randbytes(2 << 20)
    [(_, _, fields)], _ = log.unpacked_records(record(raw))
    assert log.message_of(fields) == raw[: log.MAX_MESSAGE]
    assert fields["digest"] == log.digest_of(raw) != log.digest_of(raw[: log.MAX_MESSAGE])
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


def test_a_new_file_each_day_and_when_one_is_full(tmp_path, monkeypatch):
    history = log.HistoryLog(size="1MB", folder=str(tmp_path))
    history.append(b"Subject: 1\n\n", VERDICT, "m", "classify")
    history.append(random.Random(4).randbytes(200_000), VERDICT, "m", "classify")
    history.append(b"Subject: 2\n\n", VERDICT, "m", "classify")
    assert [name[11:] for name in log.file_names(str(tmp_path))] == ["000000.verdicts", "000001.verdicts"]
    monkeypatch.setattr(log.time, "gmtime", lambda: (2099, 1, 1, 0, 0, 0, 0, 1, 0))
    history.append(b"Subject: 3\n\n", VERDICT, "m", "classify")
    monkeypatch.undo()  # once the clock is right, the file of the wrong day is left alone
    written = (tmp_path / "2099-01-01-000000.verdicts").read_bytes()
    history.append(b"Subject: 4\n\n", VERDICT, "m", "classify")
    assert log.file_names(str(tmp_path))[2:] == ["2099-01-01-000000.verdicts"]
    assert (tmp_path / "2099-01-01-000000.verdicts").read_bytes() == written
    assert (os.stat(tmp_path / "2099-01-01-000000.verdicts").st_mode & 0o777) == 0o600


def fill(folder, *sizes_and_days):
    for number, (size, days) in enumerate(sizes_and_days):
        path = folder / f"2026-01-{number + 1:02}-000000.verdicts"
        path.write_bytes(bytes(size))
        os.utime(path, (time.time() - days * log.DAY,) * 2)


def left(folder):
    return [name[8:10] for name in log.file_names(str(folder))]


@pytest.mark.parametrize(
    ("files", "stay"),
    [
        ([(10, 30), (10, 8), (10, 2), (10, 1), (10, 0)], ["03", "04", "05"]),  # what is old goes
        ([*[(300_000, 0)] * 4, (10, 0)], ["03", "04", "05"]),  # the oldest first, with room for the next file
        ([(10, 0), (10**7, 0)], ["02"]),  # but never the latest
    ],
)
def test_what_is_old_or_too_much_goes(tmp_path, files, stay):
    fill(tmp_path, *files)
    (tmp_path / "other").write_bytes(bytes(100_000))  # as the database
    log.prune_files(str(tmp_path), 3, 10**6)
    assert left(tmp_path) == stay


QUANTITIES: dict[Callable[..., int], dict[str, int | None]] = {
    parse_size: {"200MB": 200 * 10**6, "2g": 2 * 10**9, "1000000": 10**6, "1 MB": None, "": None},
    parse_days: {"90": 90, "90d": 90}
    | dict.fromkeys(("0", "-1", "x", "", "1.5", "9" * 30, "\N{ARABIC-INDIC DIGIT THREE}")),
    partial(parse_days, name="--older-than", least=0): {"0d": 0, "-1": None},
    partial(parse_size, name="--max-size", least=1): {"1": 1, "0": None},
}


def test_days_and_sizes_are_written_alike_everywhere():
    for parse, texts in QUANTITIES.items():
        for text, value in texts.items():
            if value is not None:
                assert parse(text) == value
            else:
                with pytest.raises(UsageError, match=r"takes a (number of days|size of 1)"):
                    parse(text)
