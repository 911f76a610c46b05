"""Damage where a delivery looks words up: it is reported if it was read, and else changes nothing."""

import os
from pathlib import Path

import pytest
from helpers.tiers import LONG

from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel

COLUMNS = ("index", "entries")
SHORT = b"Subject: xyzzy\n\nbuy plugh\n"  # so that little is read
COMMANDS = (("classify",), ("classify", "-p"), ("train", "--spam", "-"), ("inspect", "-"))


def judged(path):
    return repr(Model.open(path).classify(SHORT).as_map())  # NaN as itself


def write(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_flipped_bit_is_told_or_changes_nothing(spamnb, own, name):
    """Reported damage is one line: no mail is passed on, nothing is written."""
    content, answer, column = Path(own).read_bytes(), judged(own), StoredModel.open(own).columns[name]
    step = 1 if LONG else 9
    said = f"its column {name} is damaged; {WHAT_TO_DO}"
    found = {}
    for at in range(column.at, column.at + column.size, step):
        for bit in range(8) if LONG else [at % 8]:
            write(own, at, bytes([content[at] ^ 1 << bit]))
            try:
                found[at, bit] = judged(own)
            except ModelError as error:
                found[at, bit] = error.why
            write(own, at, content[at : at + 1])
    assert {said} <= {*found.values()} <= {answer, said}
    at, bit = next(place for place, said in found.items() if said == said)
    write(own, at, bytes([content[at] ^ 1 << bit]))
    damaged = Path(own).read_bytes()
    for command in COMMANDS:
        spamnb(*command, "--model", own, stdin=SHORT).fails(65, own, said)
    assert Path(own).read_bytes() == damaged
    assert {*os.listdir(os.path.dirname(own))} <= {"model.msgpack", "model.msgpack.lock"}
