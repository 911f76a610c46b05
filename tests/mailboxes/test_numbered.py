"""One message of a mailbox, named by its number as `classify` prints it: box.mbox:3."""

import gzip
import os

import pytest
from helpers.mailboxes import written
from helpers.samples import ham, spam

from spamnb.core.native import hash_of_message, read
from spamnb.store.stored_model import StoredModel


@pytest.fixture(params=[bytes, gzip.compress], ids=["plain", "gzip"])
def box(request, tmp_path):
    """Six messages, of which those with odd numbers are spam."""
    path = tmp_path / "box.mbox"
    path.write_bytes(request.param(written(ham(n) if n % 2 == 0 else spam(n) for n in range(100, 106))))
    return str(path)


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.mbox"
    path.write_bytes(written(map(ham, range(100, 104))))
    return str(path)


def label_of(model, raw):
    return StoredModel.open(model).label_of(hash_of_message(read(raw)))


def test_classify(spamnb, box):
    lines = spamnb("classify", box).succeeds().lines
    assert [line.rpartition(":")[2] for line in lines] == list("012345")
    names = [line.rpartition("\t")[2] for line in lines]
    assert [spamnb("classify", name).succeeds().lines for name in names] == [[line] for line in lines]
    assert spamnb("classify", *names).succeeds().lines == lines
    mixed = spamnb("classify", "--jobs", "2", names[4], names[1], box).succeeds().lines
    assert mixed == [lines[1], lines[4], *lines]
    assert [spamnb("classify", "-e", name).code for name in names[:2]] == [1, 0]
    one = spamnb("classify", "--json", names[3]).succeeds().json
    assert (one["path"], one["index"], one["verdict"]) == (box, 3, "spam")


def test_train_and_forget(spamnb, own, box):
    train = ("train", "--jobs", "1", "--model", own)
    assert "spam: 2 learned" in spamnb(*train, "--spam", f"{box}:3", "--spam", f"{box}:5").succeeds().lines
    labels = [label_of(own, spam(n)) for n in (101, 103, 105)]
    assert labels == [None, "spam", "spam"]
    assert label_of(own, ham(100)) is None
    assert "ham: 1 moved here from another label" in spamnb(*train, "--ham", f"{box}:3").succeeds().lines
    spamnb("forget", "--model", own, f"{box}:3").succeeds()
    assert label_of(own, spam(103)) is None


@pytest.mark.parametrize("command", [("classify",), ("train", "--spam"), ("forget",)])
def test_a_number_beyond_the_end(spamnb, own, box, command):
    before = os.stat(own)
    done = spamnb(*command, f"{box}:6", "--model", own)
    done.fails(66, f"{box}:6: no such message", f"{box}:5")
    assert os.stat(own).st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_only_message_of_a_file_has_no_number(spamnb, tmp_path, size):
    """Some programs put an mbox's line before each message that they save."""
    path = tmp_path / "one.eml"
    path.write_bytes(written([ham(1) + b"see you at noon\n" * size]))
    for words in (("classify", path), ("classify", "--jobs", "2", path, path)):
        assert {line.split("\t")[2] for line in spamnb(*words).succeeds().lines} == {str(path)}
    assert spamnb("classify", "--json", path).succeeds().json["index"] is None


def test_what_is_no_mailbox_has_no_numbers(spamnb, tmp_path):
    one = tmp_path / "message"
    one.write_bytes(ham(1))
    spamnb("classify", f"{one}:0").fails(66, f"{one}:0", "is a single message; omit the number")
    (tmp_path / "empty").write_bytes(b"")
    spamnb("classify", f"{tmp_path}/empty:0").fails(66, "no such message", "the file is empty")
    for name in (f"{tmp_path}:0", f"{tmp_path}/nothing:0", f"{one}:", f"{one}:-1", f"{one}:x", ":3"):
        spamnb("classify", name).fails(66, f"{name}: no such file or folder")
