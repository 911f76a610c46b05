"""The container: what its file promises, and that its server and its health check work as it names them."""

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile

import pytest
from helpers.homes import AS_A_USER, hand_over
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.waiting import PATIENCE, until

LINES = [line.split(None, 1) for line in (ROOT / "Containerfile").read_text().splitlines() if line]
STEPS = [(word, rest) for word, rest in LINES if word != "#"]
FINAL = STEPS[max(n for n, (word, _) in enumerate(STEPS) if word == "FROM") :]


def value(word):
    (found,) = (rest for name, rest in FINAL if name == word)
    return found


def command(word):
    return json.loads(value(word)[value(word).index("[") :])


def test_one_stage_compiles_and_another_runs_as_nobody_special():
    assert [word for word, _ in STEPS].count("FROM") == 2
    assert int(value("USER")) > 0
    assert value("VOLUME") == "/data"
    ran = " ".join(rest for word, rest in FINAL if word in ("RUN", "COPY"))
    assert "--from=build" in ran
    assert "apt-get" not in ran
    assert not [word for word, _ in STEPS if word == "ADD"]


def test_what_is_copied_is_there_and_not_ignored():
    lines = (ROOT / ".dockerignore").read_text().split()
    taken = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        name for word, rest in STEPS if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]
    }
    assert lines[0] == "*"
    assert taken == copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


@pytest.fixture
def data(spamnb):
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:  # a short name: a socket's has 107 bytes
        shutil.copy(spamnb.model, os.path.join(folder, "model.msgpack"))
        hand_over(folder)
        yield folder


@needs("setpriv")
def test_its_server_runs_and_is_healthy(spamnb, data):
    """As an ordinary user, with a folder of the test for /data."""
    path = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
    where = spamnb.environment | {"PATH": path, "SPAMNB_MODEL": f"{data}/model.msgpack"}

    def started(words):
        words = [word.replace("/data", data).replace("127.0.0.1:7830", "127.0.0.1:0") for word in words]
        return subprocess.Popen([*AS_A_USER, *words], env=where, cwd=data, stderr=subprocess.DEVNULL)

    def healthy():
        return started(command("HEALTHCHECK")).wait(PATIENCE) == 0

    assert not healthy()
    server = started([*command("ENTRYPOINT"), *command("CMD")])
    try:
        until(lambda: healthy() or server.poll() is not None)
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(PATIENCE)
    assert server.returncode == 0
    assert not healthy()
