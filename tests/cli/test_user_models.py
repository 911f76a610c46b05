"""One command for the models of many users."""

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.homes import WITH_OPEN_PYTHON
from helpers.learning import journal_of
from helpers.programs import needs

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


ANN, BOB, SERVICE = 12001, 12002, 12003
works_for_others = [
    pytest.mark.skipif(os.getuid() != 0, reason="only root works for other users"),
    pytest.mark.slow,
    needs("mounts"),
]


class Machine:
    """Ann and bob have mail and a model in homes that are closed to others; a service has a model for ann."""

    def __init__(self, spamnb, folder):
        self.spamnb = spamnb
        self.home, self.service = folder / "home", folder / "service"
        for path, owner in (
            (self.home / "ann", ANN),
            (self.home / "bob", BOB),
            (self.service / "ann", SERVICE),
        ):
            (path / "new").mkdir(parents=True)
            (path / "new" / "1").write_bytes(b"Subject: lunch\n\nxyzzy%d\n" % owner)
            shutil.copy(spamnb.model, path / "model.msgpack")
            for each in (path, *path.rglob("*")):
                os.chown(each, owner, owner)
            path.chmod(0o700)
        folder.chmod(0o755)

    def __call__(self, *arguments):
        return self.spamnb.run([*WITH_OPEN_PYTHON, self.spamnb.program, *arguments])

    def words(self, model):
        return [line.rpartition("\t")[2] for line in self.spamnb("export", "--model", model).lines]


@pytest.fixture
def machine(spamnb):
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:
        yield Machine(spamnb, Path(folder))


class TestRootWorksForUsers:
    pytestmark = works_for_others

    @pytest.mark.parametrize(("place", "owner"), [("home", ANN), ("service", SERVICE)])
    def test_and_reads_no_mail_that_the_user_may_not(self, machine, place, owner):
        """Not by a link in the user's folder; and all that is written is the owner's of the model."""
        os.symlink(machine.home / "bob/new/1", machine.home / "ann/new/2")
        models = getattr(machine, place)
        command = ("train", "--jobs", "2", "--user-models", models, "--ham", machine.home / "%u/new")
        done = machine(*command)
        assert done.err.decode() == f"spamnb: {machine.home}/ann/new/2: permission denied\n"
        assert done.code == 66
        words = machine.words(models / "ann/model.msgpack")
        assert (f"xyzzy{ANN}" in words, f"xyzzy{BOB}" in words) == (True, False)
        assert {path.stat().st_uid for path in (models / "ann").glob("model*")} == {owner}
        (machine.home / "ann/new/2").unlink()
        machine(*command).succeeds()

    def test_and_writes_no_model_that_the_user_may_not(self, machine):
        """Not if the user's folder becomes a link while mail is read."""
        home = machine.home
        os.mkfifo(home / "ann/pipe")
        os.chown(home / "ann/pipe", ANN, ANN)
        os.rename(home / "bob/model.msgpack", home / "bob/own")  # so that it is not bob's turn
        before = (home / "bob/own").read_bytes()
        with ThreadPoolExecutor() as beside:
            command = ("train", "--jobs", "1", "--user-models", home, "--ham", home / "%u/pipe")
            done = beside.submit(machine, *command)
            with open(home / "ann/pipe", "wb") as pipe:  # once it is read: the model is open by then
                os.rename(home / "bob/own", home / "bob/model.msgpack")
                os.rename(home / "ann", home.parent / "elsewhere")
                os.symlink(home / "bob", home / "ann")
                pipe.write(b"Subject: x\n\nplugh\n")
        assert (done.result().code, "user ann: " in done.result().err.decode()) == (73, True)
        assert (home / "bob/model.msgpack").read_bytes() == before

    def test_and_keeps_copies_of_models_that_only_their_owners_may_read(self, machine, tmp_path):
        tmp_path.chmod(0o700)
        machine("backup", "--user-models", machine.home, tmp_path / "%u.copy").succeeds()
        model, copy = machine.home / "bob/model.msgpack", tmp_path / "bob.copy"
        assert (copy.read_bytes(), copy.stat().st_uid) == (model.read_bytes(), 0)
        machine("prune", "--user-models", machine.home).succeeds()
        assert model.stat().st_uid == BOB

    def test_and_says_so_where_users_cannot_run_it(self, machine):
        if WITH_OPEN_PYTHON:
            done = machine.spamnb("prune", "--user-models", machine.home)
            assert (done.code, done.err.count(b"install spamnb where all users can")) == (75, 2)
