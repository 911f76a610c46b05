"""The model file: what is written is read again, by msgpack alone too; damage never passes for a model."""

import os
import pickle
import re
import stat
from contextlib import suppress
from pathlib import Path

import msgpack
import pytest
from helpers.learning import train_bulk
from helpers.paths import ROOT
from helpers.textbook import rows_of

from spamnb.errors import ModelError, SpamnbError
from spamnb.store.model_file import VERSION
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers import LocalPool

PAGE = ROOT / "docs" / "model-file.md"
LUNCH = b"Subject: lunch\nTo: ann@example.org\n\nsee you at noon, bring the noon papers\n"
MONEY = b"Subject: money\n\nbuy now now now\n"
BOTH = [(LUNCH, "ham"), (MONEY, "spam")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a small model of two messages."""
    folder = tmp_path_factory.mktemp("sound")
    return Path(train_bulk(folder, BOTH)).read_bytes()


def put(folder, content):
    path = folder / "model"
    path.unlink(missing_ok=True)  # ext4 syncs a file that is truncated and written again: 2 ms each
    path.write_bytes(content)
    return str(path)


# The page that describes it


def test_the_page_s_examples_run(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    assert learn(path, b"Subject: more\n\nbuy more noon", "spam") == "learned"
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(block, names)
    counts, journal = names["counts"], names["journal"]
    assert counts(path, "now") == {"ham": (0, 0), "spam": (1, 3)}
    assert counts(path, "noon") == {"ham": (1, 2), "spam": (0, 0)}
    assert counts(path, "header:subject") == {"ham": (1, 1), "spam": (1, 1)}
    assert counts(path, "\U0010ffff") == counts(path, "more") == {"ham": (0, 0), "spam": (0, 0)}
    (record,) = journal(path, StoredModel.open(path).generation)
    assert record["after"] == "spam"
    assert b"more\n" in record["text"]
    assert journal(path, 1) == []
    with open(path + ".journal", "ab") as file:
        file.write(b"\x92\xce\0")
    assert repr(journal(path, StoredModel.open(path).generation)) == repr([record])  # NaN as itself


def test_the_page_names_every_key_and_column(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    learn(path, b"Subject: more\n\nbuy more", "spam")
    text = PAGE.read_text()
    model = msgpack.unpackb(Path(path).read_bytes())
    with open(path + ".journal", "rb") as file:
        records = [msgpack.unpackb(packed) for _, packed in msgpack.Unpacker(file)]
    head = model["head"]
    names = {*model, *head, *head["settings"], *head["view"], *head["numbers"], "hour"}
    names = {re.sub(r"\.\d$", ".k", name) for name in names} | {*records[0]}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


# Damage


FOREIGN = {
    "text": b"Dear model,\n\nhow are you?\n",
    "mbox": b"From ann@example.org Mon Jan  1 00:00:00 2024\n" + LUNCH,
    "pickle": pickle.dumps({"format": "spamnb", "counts": [1, 2, 3]}),
    "short msgpack map": msgpack.packb({"format": "spamnb"}),
    "deeply nested": b"\x84" + b"\x91" * 5000,
    "zeros": bytes(4096),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, what):
    path = put(tmp_path, FOREIGN[what])
    for act in (StoredModel.open, lambda path: learn(path, MONEY, "spam"), train_money):
        with pytest.raises(ModelError, match=r"not a spamnb model.*(--model|--fresh)") as caught:
            act(path)
        assert str(caught.value).startswith(path)
        assert "\n" not in str(caught.value)
    assert Path(path).read_bytes() == FOREIGN[what]
    assert sorted(os.listdir(tmp_path)) == ["mail", "model"]


def train_money(path):
    mail = Path(path).parent / "mail"
    mail.write_bytes(MONEY)
    return training.train(path, {"spam": [str(mail)]}, pool=LocalPool(1))


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_another_version_says_what_to_do_and_is_left_alone(spamnb, tmp_path, sound, version):
    content = sound.replace(b"version" + msgpack.packb(VERSION), b"version" + msgpack.packb(version), 1)
    path = put(tmp_path, content)
    said = f"{'newer' if version > VERSION else 'older'} spamnb (file format {version}); "
    said += "train again with --fresh"
    with pytest.raises(ModelError, match=re.escape(said)):
        train_money(path)
    for command in (["classify", "-p"], ["train", "--spam", "-"]):
        spamnb(*command, "--model", path, stdin=MONEY).fails(65, said)
    assert Path(path).read_bytes() == content


# On disk


def test_only_the_owner_reads_it(tmp_path):
    folder = tmp_path / "new" / "folders"
    path = str(folder / "model")
    before = os.umask(0)
    try:
        training.create(path, "spam")
        learn(path, MONEY, "spam")
    finally:
        os.umask(before)
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(folder)}
    assert modes == dict.fromkeys(("model", "model.journal", "model.lock", "model.training"), 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name", ["model.new", "model.journal", "model.journal.new", "model.lock", "model.training"]
)
def test_a_planted_link_is_not_followed(tmp_path, name):
    path = str(tmp_path / "model")
    training.create(path, "spam")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to(victim)
    for act in (lambda: learn(path, MONEY, "spam"), lambda: train_money(path)):
        with suppress(SpamnbError):
            act()
    assert victim.read_bytes() == b"precious"


def test_what_was_opened_stays_whole_when_it_is_replaced(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    before = StoredModel.open(path)
    learn(path, b"Subject: other\n\nnow", "ham")
    training.train(path, {"ham": [f"{path}.000"]}, forget=True, pool=LocalPool(1))
    assert rows_of(before, ["now", "noon"]) == {"now": (0, 1, 0, 3), "noon": (1, 0, 2, 0)}
    assert rows_of(StoredModel.open(path), ["now", "noon"]) == {"now": (1, 1, 1, 3)}
