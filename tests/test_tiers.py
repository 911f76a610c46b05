"""A test that is not marked `slow` cannot start another program or a server, and knows no luck."""

import os
import socket
import subprocess
import sys

import pytest
from helpers.program import PROGRAM
from helpers.tiers import NotFast
from hypothesis import settings

COMMANDS = {
    "a program": ["true"],
    "a path": ["/bin/sh", "-c", "true"],
    "a server": [PROGRAM, "serve"],
    "a server as a module": [sys.executable, "-m", "spamnb", "serve"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_programs_are_refused(command):
    with pytest.raises(NotFast, match=r"test_programs_are_refused.*mark it"):
        subprocess.run(command)


def test_programs_and_servers_are_refused_however_they_are_started():
    with socket.socket() as server:
        for start in (
            lambda: os.system("true"),
            lambda: os.posix_spawn("/bin/true", ["true"], {}),
            lambda: server.bind(("127.0.0.1", 0)),
        ):
            with pytest.raises(NotFast):
                start()
    subprocess.run([sys.executable, "-c", ""], check=True)  # but Python is not


@pytest.mark.skipif("SPAMNB_EXAMPLES" in os.environ, reason="other examples are asked for")
def test_examples_are_the_same_in_every_run():
    assert settings().derandomize
    assert settings().database is None
    assert settings().deadline is None
