"""A journal that has grown is folded into the model by a process of its own, which nobody waits for."""

import os
import subprocess
import sys

import pytest
from helpers.learning import made, seen, train_bulk, wait_for_folding
from helpers.paths import TESTS
from helpers.waiting import PATIENCE

from spamnb.store import journal
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn

PYTHON = sys.executable
WHERE = os.environ | {"PYTHONPATH": str(TESTS)}
LIMIT = 2000  # bytes: some four messages
SOON = "from spamnb.store import journal; journal.FOLD_LIMIT = 2000; "


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "FOLD_LIMIT", LIMIT)
    path = str(tmp_path / "model")
    training.create(path, "spam")
    yield path
    wait_for_folding(path)


WATCHED = """#!/bin/sh
cd "{folder}"
echo started >> log
mkdir busy || echo two >> log
while test -e hold; do sleep 0.02; done
"{python}" "$@" || echo failed >> log
rmdir busy
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Of a Python that notes its start, and when it is not the only one, and waits for `hold` to go."""
    script = tmp_path / "python"
    script.write_text(WATCHED.format(folder=tmp_path, python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    (tmp_path / "log").write_text("")
    yield tmp_path / "log"
    (tmp_path / "hold").unlink(missing_ok=True)


def size(path):
    return os.path.getsize(path + ".journal") if os.path.exists(path + ".journal") else 0


def assert_counts(path, folder, many):
    mail = [made(number) for number in range(many)]
    tokens = ["buy", "only", *(f"number{number}" for number in range(many + 2))]
    (folder / "bulk").mkdir()
    expected = train_bulk(folder / "bulk", [(raw, "spam") for raw in mail])
    assert seen(path, mail, tokens) == seen(expected, mail, tokens)


def test_a_delivery_does_not_wait_for_it(spamnb, model, tmp_path):
    """The caller sees the end of the process and of its streams.

    Modules are found where its parent did, and not in the folder it was started in, which may be anybody's.
    """
    place = tmp_path / "place"
    place.mkdir()
    for name in ("numpy", "spamnb", "msgpack", "random", "site"):
        (place / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w')\n")
    before = os.stat(model).st_ino
    program = "import sys; sys.path.remove(''); " + SOON + "from spamnb.__main__ import main; main()"
    command = [sys.executable, "-c", program, "train", "--spam", "-", "--model", model]
    for number in range(20):
        done = spamnb.run(command, made(number), cwd=place)
        assert (done.code, done.out, done.err) == (0, b"spam: 1 learned\n", b"")
        if size(model) > LIMIT:
            break
    wait_for_folding(model)
    assert os.stat(model).st_ino != before
    assert not (tmp_path / "taken").exists()
    assert_counts(model, tmp_path, number + 1)


LEARNER = (
    "import os, sys; "
    + SOON
    + """
from spamnb.training.learn import learn
from helpers.learning import made
sys.executable = sys.argv[2]
for first in range(0, 40, 20):
    children = []
    for number in range(first, first + 20):
        child = os.fork()
        if not child:
            os._exit(0 if learn(sys.argv[1], made(number), "spam") == "learned" else 1)
        children.append(child)
    assert not any(os.waitpid(child, 0)[1] for child in children)
"""
)


def test_many_at_once_start_one(model, log, tmp_path):
    """Two crowds of twenty. Each folding takes in all there is; no second begins while there is one."""
    command = [PYTHON, "-c", LEARNER, model, sys.executable]
    done = subprocess.run(command, env=WHERE, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"")
    wait_for_folding(model)
    noted = log.read_text().split()
    assert noted
    assert {*noted} == {"started"}
    assert len(noted) < 16
    assert_counts(model, tmp_path, 40)


def test_python_may_be_gone(model, monkeypatch, capfd):
    """Nothing is lost. When the journal is far too long, the learning process folds it."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    monkeypatch.setattr("spamnb.training.learn.TOO_LONG", 3 * LIMIT)
    sizes = []
    for number in range(40):
        assert learn(model, made(number), "spam") == "learned"
        sizes.append(size(model))
        wait_for_folding(model)  # the shell that starts it in vain keeps the lock for a moment
    assert LIMIT < max(sizes) < 4 * LIMIT
    assert 0 in sizes
    assert StoredModel.open(model).messages == [0, 40]
    assert capfd.readouterr() == ("", "")
