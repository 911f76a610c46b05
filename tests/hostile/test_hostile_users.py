"""What other users of this machine put beside a model is not touched, and what we write they cannot read."""

import os
import shutil
import stat
import time
from pathlib import Path

import pytest
from helpers.homes import NOBODY

from spamnb.bayes.verdict import Verdict
from spamnb.errors import CannotCreate, NoInput
from spamnb.files import state_folder
from spamnb.history.log import HistoryLog
from spamnb.history.queries import History
from spamnb.imap.accounts import Account
from spamnb.imap.state import State
from spamnb.labels import HAM

SPAM = b"Subject: cheap pills\n\nbuy viagra now\n"
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def shared_folder(spamnb, tmp_path):
    """A folder that anybody can write to, with a model in it."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    shutil.copy(spamnb.model, folder / "model")
    return folder


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@as_root
@pytest.mark.parametrize("name", ["model.journal", "model.lock", "model.training"])
def test_a_file_of_a_stranger_is_not_written(spamnb, mail, shared_folder, name):
    file = planted(shared_folder / name, b"")
    learn = ["--spam", "-"] if name != "model.training" else [mail.ham, mail.spam]
    command = ("train", "--model", shared_folder / "model", *learn)
    spamnb(*command, stdin=SPAM).fails(73, f"{name}: belongs to another user")
    assert file.read_bytes() == b""
    os.chown(shared_folder, NOBODY, NOBODY)  # its owner can change all that is in it
    spamnb(*command, stdin=SPAM).succeeds()


@as_root
def test_a_journal_of_a_stranger_is_not_read(spamnb, shared_folder):
    model, journal = shared_folder / "model", shared_folder / "model.journal"
    spamnb("train", "--spam", "-", "--model", model, stdin=SPAM).succeeds()
    os.chown(journal, NOBODY, NOBODY)
    spamnb("classify", "--model", model, stdin=SPAM).fails(74, "belongs to another user")
    os.chown(model, NOBODY, NOBODY)
    spamnb("classify", "--model", model, stdin=SPAM).succeeds()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("elsewhere", path)])
@pytest.mark.parametrize("name", ["model.journal", "model.lock"])
def test_what_is_no_file_is_not_written(spamnb, shared_folder, make, name):
    make(shared_folder / name)
    spamnb("train", "--spam", "-", "--model", shared_folder / "model", stdin=SPAM).fails(
        74 if name == "model.journal" and make is not os.mkfifo else 73, name
    )
    assert not (shared_folder / "elsewhere").exists()


def test_a_journal_that_is_a_link_is_not_read(spamnb, own, tmp_path):
    spamnb("train", "--spam", "-", "--model", own, stdin=SPAM).succeeds()
    os.rename(f"{own}.journal", tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", f"{own}.journal")
    spamnb("classify", "--model", own, stdin=SPAM).fails(74, "model.msgpack.journal: ")


@as_root
def test_a_history_of_a_stranger_is_neither_read_nor_written(spamnb, shared_folder, monkeypatch, capfd):
    monkeypatch.setattr(time, "gmtime", lambda: (2026, 11, 16, 0, 0, 0, 0, 320, 0))
    today = shared_folder / "2026-11-16-000000.verdicts"
    planted(today, b"")
    HistoryLog(folder=str(shared_folder)).append(SPAM, Verdict(HAM, 0.5, 0.5, {}, []), spamnb.model, "test")
    assert (today.read_bytes(), "not in the history" in capfd.readouterr().err) == (b"", True)
    today.write_bytes(b"x")
    with History.open(str(shared_folder)) as history, pytest.raises(NoInput, match="belongs to another user"):
        history.gather()


@as_root
@pytest.mark.parametrize("name", ["sqlite", "sqlite-wal", "sqlite-journal"])
def test_a_database_of_a_stranger_is_not_opened(shared_folder, name):
    planted(shared_folder / f"history.{name}", b"")
    planted(shared_folder / f"home.{name}", b"")
    with pytest.raises(NoInput, match="belongs to another user"):
        History.open(str(shared_folder))
    with pytest.raises(CannotCreate, match="belongs to another user"):
        State(Account("home", "localhost", "jane", keyring=True), str(shared_folder))


def planted(path, data):
    path.write_bytes(data)
    path.chmod(0o666)
    os.chown(path, NOBODY, NOBODY)
    return path


@pytest.mark.parametrize("name", ["history", "imap"])
def test_the_folder_of_the_state_is_closed_to_others(monkeypatch, tmp_path, name):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "spamnb").mkdir(0o755)
    assert state_folder(name) == str(tmp_path / "spamnb" / name)
    assert mode_of(tmp_path / "spamnb") == 0o700


def test_folders_of_ours_are_private_whatever_the_umask(spamnb, tmp_path):
    home = tmp_path / "home"
    judge = '"$0" classify --history < mail && unset SPAMNB_MODEL && "$0" train --spam - < mail'
    begin = f"cd {tmp_path}; mkdir home; export HOME={home}; printf 'Subject: x\\n\\ny\\n' > mail; umask 0; "
    spamnb.shell(begin + judge).succeeds()
    made = [Path(path) for path, _, _ in os.walk(home) if path != str(home)]
    assert home / ".local" / "state" / "spamnb" / "history" in made
    assert {path: mode_of(path) for path in made} == dict.fromkeys(made, 0o700)


def test_exports_and_reports_are_private(spamnb, mail, tmp_path):
    chosen = tmp_path / "chosen"
    chosen.touch()
    chosen.chmod(0o640)
    lines = [
        '"$0" export > backup',
        '"$0" export > chosen',
        f'"$0" evaluate --jobs 1 --report report {mail.ham} {mail.spam}',
        '"$0" inspect --html page mail',
        '"$0" inspect --html - mail > output',
    ]
    begin = f"umask 022; cd {tmp_path}; printf 'Subject: x\\n\\ny\\n' > mail; "
    spamnb.shell(begin + " && ".join(lines)).succeeds()
    modes = {path.name: mode_of(path) for path in tmp_path.iterdir() if path.name != "mail"}
    private = dict.fromkeys(("backup", "report", "page", "output"), 0o600)
    assert modes == private | {"chosen": 0o640}
