"""Standard input that is a terminal: it is said what is waited for, and nothing elsewhere."""

import os
import pty
import subprocess

import pytest
from helpers.waiting import PATIENCE

END = b"\x04"  # Ctrl-D
WAITING = {"classify -0": "paths", "train --spam -": "a message"}


@pytest.mark.slow
@pytest.mark.parametrize("command", WAITING)
def test_who_waits_at_a_terminal_says_for_what(spamnb, own, command):
    ours, theirs = pty.openpty()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [spamnb.program, *command.split(), "--model", own],
        stdin=theirs,
        stdout=pipe,
        stderr=pipe,
        env=spamnb.environment,
    ) as running:
        os.close(theirs)
        assert running.stderr
        said = running.stderr.readline().decode()
        assert said == f"spamnb: waiting for {WAITING[command]} on standard input; end it with Ctrl-D\n"
        os.write(ours, b"Subject: hello\n\nhello\n" + END)
        _, more = running.communicate(timeout=PATIENCE)
    os.close(ours)
    assert b"waiting" not in more
