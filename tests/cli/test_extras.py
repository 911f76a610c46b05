"""Each command starts with the packages of its own extra alone; without them it says what to install."""

import os
import re
import socket
import tomllib

import pytest
from helpers.paths import ROOT
from helpers.reviewing import Forms, remembered, served
from helpers.samples import spam
from helpers.serving import Serving

pytestmark = pytest.mark.slow

MODULES = {
    "cluster": "cryptography dask distributed fsspec",
    "imap": "imapclient",
    "keyring": "keyring",
    "languages": "Stemmer stop_words",
    "milter": "kilter",
    "qr": "PIL zxingcpp",
    "review": "starlette uvicorn",
    "zstd": "backports",
}
BLOCKING = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
COMMANDS = {
    "cluster": "train --jobs tcp://127.0.0.1:{port} {mail.ham} {mail.spam}",
    "imap": "imap check",
    "languages": "train --fresh --settings stem=english --model {folder}/model {mail.ham} {mail.spam}",
}


@pytest.fixture
def only(tmp_path):
    """Make the environment of a Python that has the packages of some extras only."""

    def made(*extras):
        absent = {name for extra, names in MODULES.items() if extra not in extras for name in names.split()}
        (tmp_path / "sitecustomize.py").write_text(BLOCKING.format(absent=absent))
        before = os.environ.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path), before)))}

    return made


def test_all_extras_are_here():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert MODULES.keys() == extras.keys()


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_needs_its_own_extra_and_no_other(spamnb, mail, tmp_path, only, extra):
    pytest.importorskip(MODULES[extra].split()[0])
    with socket.socket() as nobody:  # listens there
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        config = tmp_path / "spamnb" / "imap.toml"
        config.parent.mkdir()
        server = f'host = "127.0.0.1"\nport = {port}\ntls = "none"'
        config.write_text(f'[account.home]\n{server}\nuser = "me"\npassword_command = "echo x"\n')
        line = COMMANDS[extra].format(mail=mail, folder=tmp_path, port=port)
        command, env = (
            [spamnb.program, *line.split()],
            spamnb.environment | {"XDG_CONFIG_HOME": str(tmp_path)},
        )
        spamnb.run(command, env=env | only()).fails(64, f"pip install 'spamnb[{extra}]'")
        done = spamnb.run(command, env=env | only(extra))
    assert done.code != 64, done.err
    assert not re.search(rb"pip install|Traceback|No module", done.err)


def test_the_review_page_needs_no_other_extra(spamnb, own, tmp_path, only):
    for module in MODULES["review"].split():
        pytest.importorskip(module)
    folder = remembered(tmp_path / "history", own, [spam(1)], "imap home/INBOX")
    with served(spamnb, "--model", own, "--history-folder", folder, **only("review")) as page:
        assert len(Forms(page).read().css(".rows > li")) == 1


def test_the_milter_needs_no_other_extra(spamnb, tmp_path, only):
    pytest.importorskip("kilter")
    server = Serving(spamnb, tmp_path, milter=True, env=only("milter"))
    try:
        assert server.stop() == 0
    finally:
        server.end()


def test_without_any_extra_the_rest_works(spamnb, mail, tmp_path, only):
    env = spamnb.environment | only() | {"XDG_STATE_HOME": str(tmp_path)}
    for line in ("classify --history", "history", "inspect", "config"):
        spamnb.run([spamnb.program, *line.split()], mail.messages["spam"], env=env).succeeds()
    server = Serving(spamnb, tmp_path, env=only())
    try:
        assert server.stop() == 0
    finally:
        server.end()
