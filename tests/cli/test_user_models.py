"""One command for the models of many users."""

import os
import shutil

import pytest
from helpers.learning import journal_of

from spamnb.store.stored_model import StoredModel


@pytest.fixture
def homes(spamnb, mail, tmp_path):
    """Ann's and bob's models are sound, with a lesson each; eve's is a link to bob's, dan's is none."""
    homes = tmp_path / "homes"
    for user in ("ann", "bob", "dan"):
        (homes / user).mkdir(parents=True)
        model = shutil.copy(spamnb.model, homes / user / "model.msgpack")
        spamnb("train", "--spam", "-", "--model", model, stdin=mail.messages["spam"]).succeeds()
    (homes / "dan" / "model.msgpack").write_text("a letter")
    (homes / "eve").mkdir()
    os.symlink(homes / "bob" / "model.msgpack", homes / "eve" / "model.msgpack")
    (homes / "fay").mkdir()
    return homes


def told(done):
    return [line.partition(": ")[2].split(":")[0] for line in done.err.decode().splitlines()]


def test_prune_and_check(spamnb, homes):
    done = spamnb("prune", "--user-models", homes)
    assert (done.code, told(done)) == (65, ["user dan", "user eve"])
    for user in ("ann", "bob"):
        assert f"{homes}/{user}/model.msgpack:" in done.out.decode().splitlines()
        assert not journal_of(str(homes / user / "model.msgpack")).exists()
    done = spamnb("inspect", "--check", "--user-models", homes / "%u" / "model.msgpack")
    assert (done.code, done.out.decode().count(": sound\n")) == (65, 2)
    shutil.rmtree(homes / "dan")
    shutil.rmtree(homes / "eve")
    spamnb("inspect", "--check", "--user-models", homes).succeeds()


def test_train_and_backup(spamnb, homes, tmp_path):
    shutil.rmtree(homes / "dan")
    shutil.rmtree(homes / "eve")
    for number, user in enumerate(("ann", "bob")):
        (tmp_path / user).mkdir()
        for other in range(number + 1):
            (tmp_path / user / str(other)).write_bytes(b"Subject: lunch\n\nat noon, number %d\n" % other)
    before = StoredModel.open(spamnb.model).messages
    done = spamnb("train", "--jobs", "1", "--user-models", homes, "--ham", tmp_path / "%u").succeeds()
    assert [line for line in done.lines if line.startswith("ham: ")] == ["ham: 1 learned", "ham: 2 learned"]
    spamnb("backup", "--user-models", homes, tmp_path / "%u.copy").succeeds()
    for number, user in enumerate(("ann", "bob")):
        messages = StoredModel.open(str(tmp_path / f"{user}.copy")).messages
        assert messages == [before[0] + number + 1, before[1] + 1]


def test_refusals(spamnb, homes, tmp_path):
    spamnb("prune", "--user-models", tmp_path / "none").fails(66, "no models there")
    spamnb("prune", "--user-models", homes, "--model", "x").fails(64, "--model has no effect")
    assert spamnb("inspect", "--user-models", homes).code == 64
