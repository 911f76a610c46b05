"""Run a program on a terminal, and collect all that it writes there."""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys

from helpers.waiting import PATIENCE

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\(B)")  # of ours: colours, and where the cursor goes


# The program itself, that shows progress after so many seconds.
PATIENT = (
    "import sys; from spamnb.cli.shared import progress; progress.PATIENCE = int(sys.argv.pop(1)); "
    "from spamnb.__main__ import main; sys.exit(main())"
)


def on_a_terminal(spamnb, *arguments, patience=None, typed=b"", answers=(), **more):
    """Run spamnb on a terminal; return what it shows, and the exit code. `more` is set in the environment.

    `answers` has pairs (question, answer): each answer is typed when its question is shown.
    """
    program = [sys.executable, "-c", PATIENT, str(patience)] if patience is not None else [spamnb.program]
    ours, theirs = pty.openpty()
    os.write(ours, typed)  # the terminal keeps it until it is read
    environment = spamnb.environment | {"TERM": "xterm", "COLUMNS": "120"} | more
    with subprocess.Popen(
        [*program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    ) as running:
        os.close(theirs)
        seen, read, left = b"", 0, [*answers]
        with contextlib.suppress(OSError):  # the terminal ends with the program
            while piece := os.read(ours, 65536):
                seen += piece
                while left and (place := seen.find(left[0][0].encode(), read)) >= 0:
                    read = place + len(left[0][0].encode())
                    os.write(ours, f"{left.pop(0)[1]}\n".encode())
                if not left or select.select([ours], [], [], PATIENCE)[0]:
                    continue
                running.kill()
                raise AssertionError(f"{left[0][0]!r} is not asked after: {seen.decode()}")
    os.close(ours)
    return seen.decode(), running.returncode
