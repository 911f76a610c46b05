"""Damage where a delivery looks words up: it is told if that was read, and else changes nothing."""

import os
from pathlib import Path

import msgpack
import pytest
from helpers.tiers import LONG

from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

COLUMNS = ("starts", "tokens", "pair_starts", "pairs")
SAID = {
    name: f"its column {both} is damaged; {WHAT_TO_DO}"
    for both in ("tokens or starts", "pairs or pair_starts")
    for name in both.split(" or ")
}
SHORT = b"Subject: xyzzy\n\nbuy plugh\n"  # so that little is read
FILES = ["model.msgpack", "model.msgpack.lock"]


def judged(path, raw):
    return Model.open(path).classify(raw).as_map()


def learned(path, raw):
    """The record that is written, but for the day."""
    journal = Path(path + ".journal")
    try:
        assert learn(path, raw, "spam") == "learned"
        _, packed = msgpack.unpackb(journal.read_bytes())
    except ModelError:
        assert sorted(os.listdir(journal.parent)) == FILES
        raise
    journal.unlink()
    return msgpack.unpackb(packed) | {"day": 0}


def spans(path):
    """Where each column lies."""
    stored = StoredModel.open(path)
    columns = {name: stored.column(name) for name in COLUMNS}
    return {name: range(column.at, column.at + column.size) for name, column in columns.items()}


class Attacked:
    """A model that is damaged and mended again, and what is done with it."""

    def __init__(self, path, act, raw, name):
        self.path, self.act, self.raw = path, act, raw
        self.content = Path(path).read_bytes()
        self.damage = SAID[name]
        self.span = spans(path)[name]
        self.answer = repr(act(path, raw))  # NaN as itself
        self.told = self.passed = 0

    def meets(self, at, data):
        """Other bytes: an error, or all is as it was; return whether they were told."""
        write(self.path, at, data)
        try:
            found = repr(self.act(self.path, self.raw))
        except ModelError as error:
            found = error.why
        write(self.path, at, self.content[at : at + len(data)])
        assert found in (self.damage, self.answer), at
        is_told = found == self.damage
        self.told += is_told
        self.passed += not is_told
        return is_told


def write(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def flips(content, span, step):
    """Bytes with one bit flipped: each, or of every so many bytes one."""
    for at in span if LONG else span[::step]:
        for bit in range(8) if LONG else [at % 8]:
            yield at, bytes([content[at] ^ 1 << bit])


@pytest.mark.parametrize("act", [judged, learned])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_flipped_bit_is_told_or_changes_nothing(own, mail, name, act):
    """No verdict, and no lesson: nor is anything written where it is told."""
    step = {judged: (9, 1), learned: (23, 3)}[act]["starts" in name]
    for raw in (SHORT, mail.messages["spam"]) if act is judged else (SHORT,):
        attacked = Attacked(own, act, raw, name)
        for at, byte in flips(attacked.content, attacked.span, step):
            attacked.meets(at, byte)
        assert attacked.told
        assert attacked.passed or raw is not SHORT


@pytest.mark.parametrize("how", ["zeros", "ones", "another's", "the next one's"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_block_that_is_not_what_was_written(own, name, how):
    """As a disk may give it back, or a file system after a crash."""
    attacked = Attacked(own, judged, SHORT, name)
    span, content = attacked.span, attacked.content
    for at in span if LONG else span[::8]:
        for size in (16, 512):
            end = min(at + size, span.stop)
            start = {"another's": (span.start + at) // 2, "the next one's": at + 8}.get(how, at)
            copied = content[start : start + end - at]
            attacked.meets(at, {"zeros": bytes(end - at), "ones": b"\xff" * (end - at)}.get(how, copied))
    assert attacked.told


# With the program

COMMANDS = {
    "a line": ("classify",),
    "passthrough": ("classify", "-p"),
    "a lesson": ("train", "--spam", "-"),
    "evidence": ("inspect", "-"),
}


def flipped(path, name, read):
    """A bit wrong in what a message reads of a column, or in what it does not."""
    attacked = Attacked(path, judged, SHORT, name)
    for at in attacked.span[5:]:
        byte = bytes([attacked.content[at] ^ 4])
        if attacked.meets(at, byte) == read:
            write(path, at, byte)
            return
    raise AssertionError(name)


@pytest.mark.parametrize("how", COMMANDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_the_program_says_so_in_a_line(spamnb, own, name, how):
    """Nothing is passed on, nothing written: who calls it has the message still, and keeps it."""
    flipped(own, name, read=True)
    content = Path(own).read_bytes()
    spamnb(*COMMANDS[how], "--model", own, stdin=SHORT).fails(65, own, SAID[name])
    assert Path(own).read_bytes() == content
    assert set(os.listdir(os.path.dirname(own))) <= set(FILES)
