"""The ledger: what each message added, kept before the model counts it, and without its words."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from samples import PROGRAM, ham, spam, work

from spamnb.bulk import ledger, pruning, training
from spamnb.bulk.columns import Columns
from spamnb.bulk.learned import Learned
from spamnb.bulk.ledger import Ledger, Lesson, mark_of
from spamnb.bulk.merging import merge
from spamnb.counts.store import Stored
from spamnb.errors import CannotCreate, DataError, Locked, ModelError, UsageError
from spamnb.learning import learn
from spamnb.mail.identity import digest
from spamnb.mail.message import read
from spamnb.model import Model
from spamnb.tokens.fingerprint import fingerprints

NOBODY = 65534


def digest_of(raw):
    return digest(read(raw))


def rows(path):
    """How many lessons a file has, whatever settings made them."""
    with sqlite3.connect(f"{path}.ledger") as tables:
        (many,) = tables.execute("SELECT count(*) FROM lessons").fetchone()
    tables.close()
    return many


@contextmanager
def beside(path, **options):
    with Ledger.beside(path, mark_of(Stored.open(path)), **options) as own:
        yield own


def lessons(path, *mail):
    """The lesson of each message, as plain values; None if there is none."""
    with beside(path, read_only=True) as own:
        found = [own.get(digest_of(raw)) for raw in mail]
    return [one and [list(map(int, column)) for column in one[:3]] + [dict(one.numbers)] for one in found]


@pytest.fixture
def model(tmp_path):
    path = str(tmp_path / "model")
    training.create(path)
    with beside(path, start=True):
        pass
    return path


def trained(path, folder, **mail):
    """Learn messages in bulk, label by label."""
    sources = {}
    for label, messages in mail.items():
        for number, raw in enumerate(messages):
            place = folder / f"{label}{number}"
            place.write_bytes(raw)
            sources.setdefault(label, []).append(str(place))
    training.train(path, sources, jobs=1)


def test_a_lesson_is_the_same_learned_alone_or_in_bulk(model, tmp_path):
    mail = [ham(1), spam(1), b"Subject: empty\n\n", b"now now now"]
    for raw in mail[:3]:
        learn(model, raw, "ham")
    training.fold(model)
    alone = lessons(model, *mail[:3])
    trained(model, tmp_path, spam=mail)
    assert lessons(model, *mail[:3]) == alone
    assert None not in lessons(model, *mail)
    words, times, _, _ = lessons(model, mail[3])[0]
    assert dict(zip(words, times, strict=True))[fingerprints(["now"])[0]] == 3


def test_what_all_lessons_say_is_what_the_model_counts(model, tmp_path):
    mail = [ham(n) for n in range(4)]
    trained(model, tmp_path, ham=mail)
    table = Columns.load(Stored.open(model))
    found = lessons(model, *mail)
    assert sum(sum(times) for _, times, _, _ in found) == table.occurring.sum()
    assert sum(len(words) + len(pairs) for words, _, pairs, _ in found) == table.containing.sum()
    assert sum(numbers["size"] for *_, numbers in found) == table.numbers["size"][0][1]


def test_forgotten_and_moved_mail_is_known_too(model, tmp_path):
    trained(model, tmp_path, ham=[ham(1), ham(2)])
    os.unlink(f"{model}.ledger")
    with beside(model, start=True):
        pass
    learn(model, ham(1), None)
    learn(model, ham(2), "spam")
    training.fold(model)
    assert None not in lessons(model, ham(1), ham(2))


def test_the_journal_is_in_the_ledger_before_it_is_gone(model, monkeypatch):
    learn(model, ham(1), "ham")
    assert lessons(model, ham(1)) == [None]
    monkeypatch.setattr(os, "replace", lambda *_: pytest.fail("too early") if not rows(model) else None)
    training.fold(model)
    assert None not in lessons(model, ham(1))


@pytest.mark.slow
def test_it_is_its_owners_only_and_has_no_words(spamnb, mail, tmp_path):
    path = tmp_path / "model"
    before = os.umask(0)
    try:
        done = spamnb.shell(f'umask 0; "$0" train --ledger --jobs 1 --model {path} {mail.ham} {mail.spam}')
    finally:
        os.umask(before)
    assert done.code == 0
    learn(str(path), work(5), "ham")
    training.fold(str(path))
    file = Path(f"{path}.ledger")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = file.read_bytes().lower()
    for word in (b"viagra", b"casino", b"agenda", b"ann@example.org", b"subject", b"budget", b"meeting"):
        assert word not in data
    assert rows(path) == 29


def test_mail_learned_before_the_ledger_was_is_not_in_it(own, spamnb, tmp_path):
    assert not os.path.exists(f"{own}.ledger")
    one = tmp_path / "one"
    one.write_bytes(ham(50))
    spamnb("train", "--jobs", "1", "--ham", one, "--model", own).succeeds()
    assert not os.path.exists(f"{own}.ledger")
    one.write_bytes(ham(51))
    spamnb("train", "--jobs", "1", "--ledger", "--ham", one, "--model", own).succeeds()
    one.write_bytes(ham(52))
    spamnb("train", "--jobs", "1", "--ham", one, "--model", own).succeeds()  # from then on, unasked
    assert [lesson is not None for lesson in lessons(own, ham(50), ham(51), ham(52))] == [False, True, True]


def test_a_link_is_not_followed(spamnb, mail, own, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    os.symlink(victim, f"{own}.ledger")
    before = Path(own).read_bytes()
    for options in (("--ledger",), ()):
        arguments = ("train", *options, "--jobs", "1", "--model", own, "--spam", mail.work)
        spamnb(*arguments).fails(73, f"{own}.ledger", "a link")
    spamnb("merge", tmp_path / "out", own).fails(73, f"{own}.ledger", "a link")
    assert victim.read_bytes() == b"precious"
    assert Path(own).read_bytes() == before


@pytest.mark.parametrize("content", [b"no ledger at all", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_ledger_is_said_and_nothing_is_changed(spamnb, mail, own, tmp_path, content):
    Path(f"{own}.ledger").write_bytes(content)
    learn(own, work(1), "ham")
    before = Path(own).read_bytes()
    arguments = ("train", "--jobs", "1", "--model", own, "--spam", mail.work)
    spamnb(*arguments).fails(65, f"{own}.ledger", "damaged", "move it away")
    spamnb("merge", tmp_path / "out", own).fails(65, f"{own}.ledger", "damaged")
    with pytest.raises(ModelError, match="damaged"):
        training.fold(own)
    assert Path(own).read_bytes() == before
    assert Stored.open(own).journal.entries
    assert not os.path.exists(tmp_path / "out")
    assert not os.path.exists(f"{own}.new")


def test_a_database_of_somebody_else(model):
    os.unlink(f"{model}.ledger")
    with sqlite3.connect(f"{model}.ledger") as tables:
        tables.execute("CREATE TABLE lessons (name TEXT)")
    tables.close()
    learn(model, ham(1), "ham")
    with pytest.raises(ModelError, match="not a ledger"):
        training.fold(model)


def test_a_damaged_lesson_is_found_when_it_is_needed(model, tmp_path):
    other = shutil.copy(model, str(tmp_path / "other"))
    for path in (model, other):
        trained(path, tmp_path, ham=[ham(1)])
    with sqlite3.connect(f"{model}.ledger") as tables:
        tables.execute("UPDATE lessons SET lesson = ?", (b"\x94\xc4",))
    tables.close()
    merge(str(tmp_path / "out"), [model])
    with pytest.raises(ModelError, match=r"model\.ledger: not a ledger, or damaged"):
        merge(str(tmp_path / "out2"), [other, model])
    assert not os.path.exists(tmp_path / "out2")


def test_one_left_empty_by_a_crash_is_as_good_as_none(model, tmp_path):
    trained(model, tmp_path, ham=[ham(1)])
    other = shutil.copy(model, str(tmp_path / "other"))
    Path(f"{model}.ledger").write_bytes(b"")
    with pytest.raises(DataError, match="no ledger has their words"):
        merge(str(tmp_path / "out"), [model, other])
    trained(model, tmp_path, ham=[ham(2)])
    assert rows(model) == 1


def test_what_is_dropped_takes_no_room(model):
    lesson = Lesson(*(np.arange(100, dtype=kind) for kind in ("u8", "u2", "u8")), {})
    with beside(model) as own:
        own.put((number, lesson) for number in range(500))
        before = os.path.getsize(f"{model}.ledger")
        own.only(Learned.of([7], [0]), 1 << 20)
        assert own.get(7).hashes.tolist() == lesson.hashes.tolist()
        assert 8 not in own
    assert os.path.getsize(f"{model}.ledger") < before / 10


def test_one_that_cannot_be_written(model, tmp_path):
    os.unlink(f"{model}.ledger")
    os.mkdir(f"{model}.ledger")
    learn(model, ham(1), "ham")
    before = Path(model).read_bytes()
    with pytest.raises(CannotCreate, match=r"model\.ledger: cannot open the ledger: Is a directory"):
        training.fold(model)
    with pytest.raises(CannotCreate, match="cannot open the ledger"):
        trained(model, tmp_path, ham=[ham(2)])
    assert Path(model).read_bytes() == before
    assert len(Stored.open(model).journal.entries) == 1
    assert not os.path.exists(f"{model}.new")


@contextmanager
def an_ordinary_user():
    """Root may do all."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


def test_one_that_can_only_be_read_is_enough_to_merge(model, tmp_path):
    trained(model, tmp_path, ham=[ham(1)])
    other = shutil.copy(model, str(tmp_path / "other"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o777)
    elsewhere.chmod(0o777)
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == Path.home().owner() and path != Path("/") and "pytest" in str(path):
            path.chmod(0o755)
    for name in ("model", "model.ledger", "other"):
        (tmp_path / name).chmod(0o444)
    with an_ordinary_user():
        done = merge(str(elsewhere / "out"), [model, other])
        assert (done.messages, done.again, done.twice) == (1, 1, 0)
        with pytest.raises(CannotCreate, match="cannot open the ledger: Permission denied"), beside(model):
            pass


def test_one_that_is_being_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "PATIENCE", 0.01)
    trained(model, tmp_path, ham=[ham(1)])
    writer = sqlite3.connect(f"{model}.ledger", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(Locked, match="try again"):
            trained(model, tmp_path, ham=[ham(2)])
    finally:
        writer.close()
    assert Stored.open(model).messages == [1, 0]


def test_pruning_drops_what_is_not_learned_any_more(model, tmp_path, monkeypatch):
    """But for what was forgotten lately: it may have to be merged yet."""
    trained(model, tmp_path, ham=[ham(n) for n in range(3)])
    learn(model, ham(1), None)
    learn(model, ham(4), "ham")
    pruning.prune(model)
    assert None not in lessons(model, *(ham(n) for n in (0, 1, 2, 4)))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(time.time()) + 100 * 86400))
    learn(model, ham(2), None)
    pruning.prune(model, days=60, try_only=True)
    assert rows(model) == 4
    pruning.prune(model, days=60)
    assert [one is not None for one in lessons(model, *(ham(n) for n in (0, 1, 2, 4)))] == [1, 0, 1, 1]
    pruning.prune(model, days=-1, rare=0)  # no word is so rare
    assert [one is not None for one in lessons(model, *(ham(n) for n in (0, 1, 2, 4)))] == [1, 0, 0, 1]


def test_a_model_made_anew_leaves_no_lessons_of_other_settings(model, tmp_path, monkeypatch):
    trained(model, tmp_path, ham=[ham(1), ham(2)])
    mail = {"ham": [str(tmp_path / "ham0")]}
    before = lessons(model, ham(1), ham(2))

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "put_in_place", stopped)
        with pytest.raises(KeyboardInterrupt):
            training.train(model, mail, {"ngrams": 2}, fresh=True, jobs=1)
    assert lessons(model, ham(1), ham(2)) == before
    training.train(model, mail, {"ngrams": 2}, fresh=True, jobs=1)
    after = lessons(model, ham(1), ham(2))
    assert after[1] is None
    assert len(after[0][0]) > len(before[0][0])
    assert rows(model) == 1


def test_a_model_that_keeps_no_words_has_a_ledger_that_tells_none(spamnb, mail, tmp_path):
    """Nor one of before: anybody can work out the fingerprint of a word."""
    path = str(tmp_path / "model")
    common = ("--ledger", "--jobs", "1", "--model", path, mail.ham, mail.spam)
    spamnb("train", *common).succeeds()
    word = fingerprints(["viagra"])[0].to_bytes(8, "little")
    assert word in Path(f"{path}.ledger").read_bytes()
    spamnb("train", "--keyed", "--fresh", *common).succeeds()
    assert rows(path) == 28
    assert word not in Path(f"{path}.ledger").read_bytes()
    key = Model.open(path).key
    with beside(path) as own:
        found = own.get(key.digests([digest_of(spam(1))])[0])
    assert key.fingerprints(fingerprints(["viagra"]))[0] in found.hashes


def test_only_a_host_that_learns_has_one(spamnb, mail, tmp_path):
    path = tmp_path / "model"
    arguments = ("train", "--ledger", "--cluster", "local", "--model", path, mail.ham, mail.spam)
    spamnb(*arguments).fails(64, "--ledger", "without --cluster")
    assert not path.exists()


def test_without_sqlite(model, tmp_path, monkeypatch):
    """Nothing but a ledger needs it."""
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    with pytest.raises(UsageError, match="sqlite3"):
        trained(model, tmp_path, ham=[ham(1)])
    os.unlink(f"{model}.ledger")
    trained(model, tmp_path, ham=[ham(1)])
    merge(str(tmp_path / "out"), [model])


@pytest.mark.slow
def test_a_training_that_is_killed_leaves_every_lesson_that_counts(tmp_path):
    """And one that is begun again gets to its end."""
    path, folder = str(tmp_path / "model"), tmp_path / "mail"
    folder.mkdir()
    for n in range(800):
        (folder / f"{n:04}").write_bytes(ham(n) + b"word%d " % n * 200)
    command = [PROGRAM, "train", "--ledger", "--jobs", "1", "--model", path, "--ham", str(folder)]
    for seconds in (0.0, 0.05, 0.1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(f"{path}.ledger") and process.poll() is None:
            time.sleep(0.005)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert_all_known(path)
        if os.path.exists(path):
            os.unlink(path)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert assert_all_known(path) == 800
    assert rows(path) == 800


def assert_all_known(path):
    if not os.path.exists(path):
        return 0
    learned = Learned.load(Stored.open(path))
    with beside(path) as own:
        assert all(number in own for number in learned.digests.tolist())
    return len(learned)


def test_a_lesson_comes_back_as_it_was():
    words, times = np.array([7, 2**64 - 1], np.uint64), np.array([1, 65535], np.uint16)
    one = Lesson.unpacked(Lesson(words, times, words[:1], {"size": 3}).packed())
    assert (one.hashes.tolist(), one.occurrences.tolist()) == (words.tolist(), times.tolist())
    assert (one.pairs.tolist(), one.numbers) == ([7], {"size": 3})
