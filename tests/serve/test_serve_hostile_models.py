"""A user's model takes little time and memory of the others, whatever the user wrote there."""

import os
import shutil
from pathlib import Path

import pytest
from helpers.reads import Watch
from helpers.serving import request

from spamnb.errors import DataError, ModelError
from spamnb.serve import open_models
from spamnb.serve.judge import Judge
from spamnb.serve.metrics import Counters
from spamnb.serve.options import Options
from spamnb.store import head, records, stored_model
from spamnb.store.stored_model import StoredModel

SPAM = b"Subject: cheap pills\n\nbuy viagra now, casino bonus\n"
HEAD = b"\x84\xa6format\xa6spamnb\xa7version\x04\xa5crc32\x00\xa4head"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "homes" / "ann").mkdir(parents=True)
    return tmp_path / "homes" / "ann"


@pytest.fixture
def anns(spamnb, home):
    """A good model, in the place of ann's."""
    return Path(shutil.copy(spamnb.model, home / "model.msgpack"))


@pytest.fixture
def judge(spamnb, home):
    return Judge(Options(spamnb.model, user_models=str(home.parent)), Counters())


def sparse(path, start, size):
    path.write_bytes(start)
    os.truncate(path, size)


@pytest.fixture
def reads(monkeypatch):
    """Bytes of the reads of a model file from now on."""
    sizes = []

    class Counting(records.File):
        def read(self, at, size):
            sizes.append(size)
            return super().read(at, size)

    monkeypatch.setattr(stored_model, "File", Counting)
    return sizes


@pytest.mark.parametrize("broken", [b"\xdd\x0f\xff\xff\xff", b"\xc6\x7f\xff\xff\xff", b""])
def test_of_a_broken_head_no_more_is_read_than_a_head_may_have(home, judge, reads, broken):
    sparse(home / "model.msgpack", HEAD + broken, 1 << 28)
    for _ in range(3):
        judge.classify(SPAM, "ann")
        assert "ann" in judge.told
    assert sum(reads) <= 2 * head.LONGEST_HEAD
    assert judge.classify(SPAM, "bob")[0].label == "spam"


@pytest.mark.parametrize("broken", ["head", "journal"])
def test_a_broken_model_is_read_once_and_others_are_answered(serving, spamnb, home, broken):
    model, log = home / "model.msgpack", home / "model.msgpack.journal"
    if broken == "head":
        sparse(model, HEAD + b"\xdd\x0f\xff\xff\xff", 1 << 28)
        sparse(log, b"", 0)
    else:
        model.write_bytes(Path(spamnb.model).read_bytes())
        sparse(log, b"", 1 << 31)
    server = serving(user_models=str(home.parent))
    watch = Watch(model, log)
    for number in range(3):
        assert b"Spam: True" in server.ask(request("CHECK", SPAM, User="ann"))  # by the shared model
        assert watch.saw_reads() <= (number == 0)
        assert b"Spam: True" in server.ask(request("CHECK", SPAM, User="bob"))
    model.write_bytes(Path(spamnb.model).read_bytes())
    log.unlink()
    assert b"Spam: True" in server.ask(request("CHECK", SPAM, User="ann"))
    assert watch.saw_reads()


def test_a_failure_to_look_words_up_is_remembered(home, judge, spamnb):
    data = bytearray(Path(spamnb.model).read_bytes())
    tokens = StoredModel.open(spamnb.model).column("tokens")
    data[tokens.at : tokens.at + tokens.size] = bytes(tokens.size)
    (home / "model.msgpack").write_bytes(data)
    kept = judge._own_model("ann")
    for _ in range(2):
        assert judge.classify(SPAM, "ann").model == spamnb.model
        assert kept.failure
    (home / "model.msgpack").write_bytes(Path(spamnb.model).read_bytes())
    assert judge.classify(SPAM, "ann")[0].label == "spam"
    assert kept.failure is None


def test_a_large_journal_is_not_read(home, anns, judge):
    sparse(home / "model.msgpack.journal", b"", 1 << 31)
    judge.classify(SPAM, "ann")
    assert "larger than" in judge.told["ann"]
    with pytest.raises(ModelError, match="larger than"):
        judge.model_to_teach("ann")  # to learn with
    with pytest.raises(DataError, match="no journal"):
        StoredModel.open(str(anns))
    assert judge.classify(SPAM, "bob")[0].label == "spam"


@pytest.mark.usefixtures("anns")
def test_a_large_histogram_is_not_read(judge, monkeypatch):
    monkeypatch.setattr(open_models, "MOST_USER_PATTERNS", 1)
    judge.classify(SPAM, "ann")
    assert "histogram" in judge.told["ann"]
