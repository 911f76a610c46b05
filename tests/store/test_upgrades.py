"""Models of every published format open for ever, and are converted when they learn."""

import os
import shutil

import pytest
from helpers.paths import TESTS
from helpers.samples import ham, spam

from spamnb.model import Model, revision_of
from spamnb.reading.settings import REVISION
from spamnb.store.head import VERSION
from spamnb.store.stored_model import StoredModel

MODELS = sorted((TESTS / "models").glob("*.msgpack"))


def copy_of(model, folder):
    for path in (model, model.with_name(f"{model.name}.journal")):
        shutil.copy(path, folder)
        os.chmod(folder / path.name, 0o600)
    return folder / model.name


def test_the_model_of_today_is_kept_too():
    assert f"format{VERSION}-revision{REVISION}" in [model.stem for model in MODELS]
    page = (TESTS / "models" / "README.md").read_text()
    assert [model.name for model in MODELS if f"`{model.name}`" not in page] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.stem)
def test_it_judges_learns_and_is_converted(spamnb, mail, tmp_path, model):
    path = copy_of(model, tmp_path)
    older = f"revision{REVISION}" not in model.name
    assert [Model.open(path).classify(raw).label for raw in (ham(99), spam(99))] == ["ham", "spam"]
    assert Model.open(path).stored.messages == [14, 15]  # one of them in the journal
    spamnb("inspect", "--check", "--model", path).succeeds()
    assert (b"made by an older spamnb" in spamnb("inspect", "--model", path).err) == older
    assert spamnb("classify", "--model", path, stdin=spam(99)).succeeds().out.startswith(b"spam")
    backup = spamnb("export", "--model", path).succeeds().out
    spamnb("train", "--model", path, "--ham", "-", stdin=ham(50)).succeeds()
    trained = spamnb("train", "--jobs", "1", "--model", path, mail.ham, mail.spam)
    assert (trained.code, b"converted from tokenizer revision" in trained.err) == (0, older)
    assert revision_of(StoredModel.open(str(path))) == REVISION
    spamnb("inspect", "--check", "--model", path).succeeds()
    assert [Model.open(path).classify(raw).label for raw in (ham(99), spam(99))] == ["ham", "spam"]
    # What it knew, it knows: but for one of each that is another there, all of this mail was learned.
    assert "13 already known" in trained.lines[0]
    restored = tmp_path / "restored"
    spamnb("import", "--model", restored, "-", stdin=backup).succeeds()
    assert Model.open(restored).stored.messages == [14, 15]


def test_a_journal_of_an_older_model_is_folded_into_one_of_today(spamnb, tmp_path):
    path = copy_of(MODELS[0], tmp_path)
    spamnb("prune", "--model", path).succeeds()
    stored = StoredModel.open(str(path))
    assert (stored.messages, stored.journal.records, revision_of(stored)) == ([14, 15], [], REVISION)
