"""One command for the models of many users."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from helpers.homes import WITH_OPEN_PYTHON
from helpers.learning import journal_of
from helpers.programs import needs


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
    done = spamnb("check", "--user-models", homes / "%u" / "model.msgpack")
    assert (done.code, done.out.decode().count(": sound\n")) == (65, 2)
    shutil.rmtree(homes / "dan")
    shutil.rmtree(homes / "eve")
    spamnb("check", "--user-models", homes).succeeds()


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

    def test_and_what_is_written_is_theirs(self, machine):
        machine("prune", "--user-models", machine.home).succeeds()
        assert (machine.home / "bob/model.msgpack").stat().st_uid == BOB

    def test_and_changes_no_file_that_the_user_may_not(self, machine):
        """Not by a link in the user's folder, though it leads to a file of root's."""
        victim = shutil.copy(machine.spamnb.model, machine.home.parent / "roots.msgpack")
        before = Path(victim).read_bytes()
        (machine.home / "ann/model.msgpack").unlink()
        os.symlink(victim, machine.home / "ann/model.msgpack")
        done = machine("prune", "--older-than", "0", "--user-models", machine.home)
        assert (done.code, "user ann: " in done.err.decode()) == (65, True)
        assert Path(victim).read_bytes() == before
