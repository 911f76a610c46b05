"""A user's model takes little time and memory of the others, whatever the user wrote there."""

import os
from pathlib import Path

import pytest
from helpers.reads import Watch
from helpers.serving import SPAM, request

HEAD = b"\x84\xa6format\xa6spamnb\xa7version\x04\xa5crc32\x00\xa4head"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "homes" / "ann").mkdir(parents=True)
    return tmp_path / "homes" / "ann"


def sparse(path, start, size):
    path.write_bytes(start)
    os.truncate(path, size)


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
