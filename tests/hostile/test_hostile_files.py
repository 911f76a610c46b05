"""Models, journals and backups that were changed: told as damaged, or of no harm. What fuzzing found."""

import json
import os
from binascii import crc32
from copy import deepcopy
from pathlib import Path

import msgpack
import pytest
from fuzz.file_checks import backup
from fuzz.sealing import sealed_backup, sealed_model

from spamnb.exchange.backup import exported
from spamnb.store import msgpack_codec
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

ODD: list = [None, -1, 1 << 200, "x", [], {}]


def leaves(value, path=()):
    """Where everything stands in a value made of lists and maps."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            yield from leaves(value[key], (*path, key))


def replaced(value, path, other):
    changed = deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other
    return changed


def test_a_backup_that_makes_no_sense_takes_no_model_s_place(own):
    """Whatever is changed in its head: it is refused, or the model that comes of it can be read."""
    first, head, *rest = exported(own)
    known = json.loads(head)
    for number, path in enumerate(leaves(known)):
        changed = json.dumps(replaced(known, path, ODD[number % len(ODD)]))
        backup("\n".join((first, changed, *rest)).encode())


def test_a_backup_with_other_settings_is_refused_and_the_model_stays(spamnb, own, tmp_path):
    text = "\n".join(exported(own)).encode()
    written = tmp_path / "backup"
    written.write_bytes(sealed_backup(text.replace(b'"ngrams": 1', b'"ngrams": 0')))
    before = Path(own).read_bytes()
    spamnb("import", "--fresh", "--model", own, written).fails(65, "damaged")
    assert Path(own).read_bytes() == before
    assert not os.path.exists(own + ".new")


def test_a_damaged_histogram_is_told(spamnb, own, mail):
    """It is read by one view only, and not verified as a whole; what was learned later is taken from it."""
    learn(own, mail.messages["spam"], "spam")
    column = StoredModel.open(own).column("histogram.0")
    with open(own, "r+b") as file:
        file.seek(column.at)
        file.write(bytes(200 for _ in range(column.size)))
    spamnb("classify", "--event", "bernoulli", "--model", own, stdin=mail.messages["spam"]).fails(
        65, "damaged"
    )


@pytest.mark.parametrize("key", ["labels", "messages", "settings", "view", "cutoffs", "numbers"])
def test_a_forged_model_gives_no_verdict(spamnb, own, mail, key):
    """Its checksums hold, its content does not: an error, and no answer that could be taken for one."""
    data = Path(own).read_bytes()
    head = msgpack.packb(StoredModel.open(own).head[key])
    name = msgpack.packb(key)
    Path(own).write_bytes(resealed(data.replace(name + head, name + msgpack.packb(None), 1)))
    done = spamnb("classify", "--model", own, stdin=mail.messages["spam"])
    assert done.code in (65, 75)
    assert done.out == b""
    assert done.err.count(b"\n") == 1


def resealed(data: bytes) -> bytes:
    made = sealed_model(data)
    front, at = {}, 3
    for _ in range(4):
        key, at = msgpack_codec.unpack(made, at)
        start = at
        front[key], at = msgpack_codec.unpack(made, at)
    assert crc32(made[start:at]) == front["crc32"]  # it is a forgery, not damage
    return made
