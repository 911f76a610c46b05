"""Hints that name a command: pasted into a shell they do what they say, with the same model."""

import shlex
import shutil

import pytest
from helpers.samples import ham


@pytest.fixture
def odd(tmp_path):
    """A folder that a shell would take apart."""
    folder = tmp_path / "it's my $HOME; mail"
    folder.mkdir()
    return folder


def hint_in(text):
    """The command at the end of the line that has one."""
    (line,) = [line for line in text.decode().splitlines() if ": spamnb " in line]
    return "spamnb " + line.partition(": spamnb ")[2].rstrip(")")


def pasted(spamnb, mail, hint, others=()):
    """What comes of it, once the words in capitals have been put in, taken apart as by a shell."""
    places = {"HAM": mail.ham, "SPAM": mail.spam, "PATH": mail.spam, **dict(others)}
    program, *words = shlex.split(hint)
    assert program == "spamnb"
    return spamnb(*(places.get(word, word) for word in words))


def messages_of(spamnb, model):
    return spamnb("inspect", "--json", "--model", model).succeeds().json["messages"]


def test_no_model_yet(spamnb, mail, odd):
    model = odd / "model"
    for command in (["classify"], ["inspect"]):
        done = spamnb(*command, "--model", model, stdin=ham(1))
        assert done.code == 75
        assert pasted(spamnb, mail, hint_in(done.err)).code == 0
        assert messages_of(spamnb, model) == [14, 14]
        model.unlink()


def test_inspect_a_model_as_a_message(spamnb, mail, odd):
    model = shutil.copy(spamnb.model, odd / "model")
    done = spamnb("inspect", model)
    assert done.code == 65
    assert any(str(model) in line for line in pasted(spamnb, mail, hint_in(done.err)).succeeds().lines)


def test_damaged_journal(spamnb, mail, odd):
    model = shutil.copy(spamnb.model, odd / "model")
    for n in range(3):
        spamnb("train", "--ham", "-", "--model", model, stdin=ham(200 + n)).succeeds()
    journal = odd / "model.journal"
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 255
    journal.write_bytes(data)
    done = spamnb("classify", "--model", model, stdin=ham(1))
    checked = pasted(spamnb, mail, hint_in(done.err))
    assert checked.code == 65
    assert b"its journal is damaged" in checked.err
