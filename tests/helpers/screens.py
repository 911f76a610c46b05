"""What a program writes to a terminal, from its start to its end."""

import contextlib
import os
import pty
import re
import subprocess

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\(B)")  # of ours: colours, and where the cursor goes


def on_a_terminal(spamnb, *arguments, **more):
    """What a person sees, both streams together, and the exit code; `more` is set in the environment."""
    ours, theirs = pty.openpty()
    environment = spamnb.environment | {"TERM": "xterm", "COLUMNS": "120"} | more
    with subprocess.Popen(
        [spamnb.program, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as running:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the terminal ends with the program
            while piece := os.read(ours, 65536):
                seen += piece
    os.close(ours)
    return seen.decode(), running.returncode
