"""Set the environment of the tests, and of all programs that they start, when this is imported."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# What the caller may ask for.
KEPT = {"SPAMNB_EXAMPLES", "SPAMNB_LONG", "SPAMNB_MAY_LACK", "SPAMNB_TORTURE"}
KEPT |= {"LD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"}  # without which some Pythons do not start
OF_PYTEST = ("PYTEST_",)
SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # where servers are; not on every user's PATH
MAX_TMPDIR = 40  # bytes: a socket's path has 107


def plain(given: dict[str, str]) -> dict[str, str]:
    """Return the environment for the tests, made from the one that pytest was started with."""
    kept = {name: value for name, value in given.items() if name in KEPT or name.startswith(OF_PYTEST)}
    return kept | {
        "HOME": home(),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join(dict.fromkeys([*given.get("PATH", os.defpath).split(os.pathsep), *SYSTEM])),
        # One day for all tests, also across midnight: models store it, and some are compared byte by byte.
        "SOURCE_DATE_EPOCH": str(int(time.time())),
        "TMPDIR": tempfile.gettempdir(),
        "TZ": "UTC",
    }


def home() -> str:
    """Make an empty home folder, which is removed when this process ends; return its path."""
    folder, maker = tempfile.mkdtemp(prefix="spamnb-home-"), os.getpid()

    def remove() -> None:
        if os.getpid() == maker:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def temporary_folder() -> str:
    """Return the folder for temporary files, or a parent that other users may enter, with a simple name."""
    given = Path(tempfile.gettempdir())
    for folder in (given, *given.parents):
        is_open = all(above.stat().st_mode & 1 for above in folder.parents) and folder.stat().st_mode & 3 == 3
        is_simple = str(folder).isascii() and " " not in str(folder) and len(str(folder)) <= MAX_TMPDIR
        if is_simple and (is_open or (os.geteuid() and os.access(folder, os.W_OK))):
            return str(folder)
    return "/tmp"


def of_python(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def pytest_configure(config: Any) -> None:
    """Start Python again if its own variables (PYTHON…) were different when it started."""
    if "PYTEST_XDIST_WORKER" not in GIVEN and of_python(GIVEN) != of_python(dict(os.environ)):
        if capturing := config.pluginmanager.getplugin("capturemanager"):
            capturing.stop_global_capturing()
        atexit._run_exitfuncs()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


GIVEN = dict(os.environ)
if "PYTEST_XDIST_WORKER" not in GIVEN:  # a worker has that of the process that started it
    os.umask(0o022)
    tempfile.tempdir = temporary_folder()
    os.environ.clear()
    os.environ.update(plain(GIVEN))
    time.tzset()
