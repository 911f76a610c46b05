"""A copy of a model and its journal, taken while others learn."""

import os
import shutil

from helpers.learning import fold, made

from spamnb.core.native import hash_of_message, read
from spamnb.store import copying
from spamnb.store.journal import read_bytes
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn


def missing(path, numbers):
    stored = StoredModel.open(path)
    return [number for number in numbers if stored.label_of(hash_of_message(read(made(number)))) != "spam"]


def test_a_fold_between_the_model_and_its_journal(model, tmp_path, monkeypatch):
    """Held in the middle: the model was opened, and is replaced before the journal is read."""
    copy = str(tmp_path / "copy")
    calls: list[str] = []
    learn(model, made(1), "spam")

    def folded_before(path):
        if not calls:
            fold(model)
            learn(model, made(2), "spam")
        calls.append(path)
        return read_bytes(path)

    monkeypatch.setattr(copying, "read_bytes", folded_before)
    copying.copy_model(model, copy, lambda _: None)
    assert missing(copy, [1, 2]) == []
    assert len(calls) == 2


def test_what_is_no_copy(spamnb, own, tmp_path):
    copy = tmp_path / "copy"
    spamnb("backup", "--model", own, own).fails(64, "is the model itself")
    spamnb("backup", "--model", tmp_path / "none", copy).fails(75, "no model yet")
    spamnb("backup", "--model", own, tmp_path).fails(73, "a folder")
    copy.write_text("a letter")
    spamnb("backup", "--model", own, copy).fails(73, "is not a model")
    copy.unlink()
    assert spamnb("backup", "--model", own, copy).succeeds().lines == [
        f"{copy}: 28 messages; entries in its journal: 0"
    ]
    assert not os.path.exists(f"{copy}.known.txt")
    known = os.path.join(os.path.dirname(own), "known.txt")
    with open(known, "w") as file:
        file.write("ann@example.org\n")
    spamnb("backup", "--model", own, copy).succeeds()
    with open(f"{copy}.known.txt") as file:
        assert file.read() == "ann@example.org\n"
    os.unlink(f"{copy}.known.txt")
    os.unlink(known)
    whole = copy.read_bytes()
    os.truncate(own, len(whole) - 1)
    spamnb("backup", "--model", own, copy).fails(65, "no copy was made")
    assert copy.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "copy.journal", "model.msgpack"]


def test_a_journal_of_a_newer_model_file_is_told_of(spamnb, model, tmp_path):
    """As by a copy of the model, a fold, and then a copy of the journal."""
    learn(model, made(1), "spam")
    old = shutil.copy(model, tmp_path / "old")
    fold(model)
    learn(model, made(2), "spam")
    shutil.copy(f"{model}.journal", f"{old}.journal")
    done = spamnb("classify", "--model", old, stdin=made(1))
    assert b"old.journal: ignoring 1 entry that belongs to another model file" in done.err
    assert "1 entry that belongs to another model file" in spamnb("check", old).err.decode()
    spamnb("backup", "--model", old, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
