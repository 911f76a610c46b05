"""Who owns what is written: a service must be able to read it, whoever learned."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from helpers.homes import NOBODY

GROUP = 12  # any but NOBODY's

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can write for others")


@pytest.fixture
def folder(tmp_path):
    """The folder of a service."""
    os.chown(tmp_path, NOBODY, NOBODY)
    return tmp_path


def rights(path):
    status = os.stat(path)
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


def test_what_root_learns_stays_the_owners(spamnb, mail, folder):
    """The model as it is replaced, its journal as it comes and goes, and the locks."""
    model = shutil.copy(spamnb.model, folder / "model")
    os.chown(model, NOBODY, GROUP)
    os.chmod(model, 0o640)
    spamnb("train", "--spam", "-", "--model", model, stdin=mail.messages["spam"]).succeeds()
    assert rights(f"{model}.journal") == (NOBODY, GROUP, 0o640)
    assert rights(f"{model}.lock") == (NOBODY, GROUP, 0o600)
    before = os.stat(model).st_ino
    spamnb("prune", "--model", model).succeeds()
    assert os.stat(model).st_ino != before
    assert rights(model) == (NOBODY, GROUP, 0o640)
    spamnb("train", "--jobs", "1", "--fresh", "--model", model, mail.ham, mail.spam).succeeds()
    assert rights(model) == (NOBODY, GROUP, 0o640)
    assert rights(f"{model}.training") == (NOBODY, GROUP, 0o600)


def test_a_new_model_is_the_folders_owners(spamnb, mail, folder):
    model = folder / "users" / "ann" / "model"
    done = spamnb("train", "--jobs", "1", "--model", model, mail.ham, mail.spam)
    assert done.code == 0
    assert done.err.decode() == f"spamnb: {model}: belongs to the owner of its folder, who can now use it\n"
    for path in (model.parent.parent, model.parent, *model.parent.iterdir()):
        assert rights(path)[:2] == (NOBODY, NOBODY), path
    assert len(list(model.parent.iterdir())) >= 2


def test_a_file_that_waits_there_is_not_given_away(spamnb, mail, folder):
    """It may be another name of a file that only root may read."""
    model = shutil.copy(spamnb.model, folder / "model")
    os.chown(model, NOBODY, NOBODY)
    secret = Path(folder / "secret")
    secret.write_bytes(b"")
    os.link(secret, f"{model}.lock")
    spamnb("train", "--spam", "-", "--model", model, stdin=mail.messages["spam"]).succeeds()
    assert rights(secret)[:2] == (0, 0)
