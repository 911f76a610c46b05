"""Without the packages of its extra a command says what to install; all other commands work."""

import os

import pytest
from helpers.serving import Serving

pytestmark = pytest.mark.slow

ABSENT = (
    "cryptography dask distributed fsspec imapclient keyring Stemmer stop_words kilter PIL zxingcpp".split()
)
ABSENT += ["starlette", "uvicorn", "backports"]
BLOCKING = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
COMMANDS = {
    "cluster": "train --jobs tcp://127.0.0.1:9 {mail.ham} {mail.spam}",
    "imap": "imap check",
    "languages": "train --fresh --settings stem=english --model {folder}/model {mail.ham} {mail.spam}",
    "review": "review",
    "milter": "serve --milter --listen {folder}/socket",
}


@pytest.fixture
def environment(tmp_path):
    """What a Python without any extra is started with."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKING)
    (tmp_path / "spamnb").mkdir()
    account = '[account.home]\nhost = "127.0.0.1"\nuser = "me"\npassword_command = "echo x"\n'
    (tmp_path / "spamnb" / "imap.toml").write_text(account)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}


@pytest.mark.parametrize("extra", COMMANDS)
def test_what_is_missing_is_named(spamnb, mail, tmp_path, environment, extra):
    line = COMMANDS[extra].format(mail=mail, folder=tmp_path)
    done = spamnb.afresh(*line.split(), env=spamnb.environment | environment)
    done.fails(64, "-m pip install -e ", f"[{extra}]'")


def test_the_rest_works(spamnb, mail, tmp_path, environment):
    for line in ("classify --history", "history", "inspect", "config"):
        spamnb.afresh(
            *line.split(), stdin=mail.messages["spam"], env=spamnb.environment | environment
        ).succeeds()
    server = Serving(spamnb, tmp_path, env=environment)
    try:
        assert server.stop() == 0
    finally:
        server.end()
