"""System calls that fail, as on file systems and disks that are not at hand: strace makes them fail."""

import os
import shutil
import subprocess
from functools import cache

import pytest


@cache
def cannot_trace():
    """Why not, if so."""
    if not shutil.which("strace"):
        return "strace is not installed"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True)
    return f"no process may trace another here: {tried.stderr.strip()}" if tried.returncode else ""


needs_strace = pytest.mark.skipif(bool(cannot_trace()), reason=cannot_trace())


def failing(log, call, error, *paths, when="1+"):
    """What to put in front of a command, so that calls on these paths fail; `log` tells which did."""
    only = [word for path in paths for word in ("-P", str(path))]
    return [
        *("strace", "-f", "-qq", "-y", "-o", str(log), *only),
        *("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}"),
    ]


def failed(log):
    """The calls that were made to fail."""
    return [line for line in log.read_text().splitlines() if line.endswith("(INJECTED)")]
