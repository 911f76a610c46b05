"""`make test-pythons`: the fast tests on each version of CPython from 3.11 on that is found, a line for each.

Looked for on the PATH and in the versions of pyenv. Each has an environment of its own: .venv-3.12 and so on.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
ASK = "import sys; print(sys.implementation.name, *sys.version_info[:3])"


def candidates() -> list[str]:
    """Paths of what may be an interpreter."""
    folders = os.get_exec_path()
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
        folders += sorted(glob.glob(os.path.join(glob.escape(root), "versions", "*", "bin")))
    return [path for folder in folders for path in glob.glob(os.path.join(glob.escape(folder), "python3*"))]


def version_of(path: str) -> tuple[int, ...] | None:
    """The version of a CPython that is young enough; None for anything else."""
    try:
        done = subprocess.run([path, "-c", ASK], capture_output=True, text=True, timeout=60)
    except OSError:
        return None
    name, *numbers = done.stdout.split() or [""]
    version = tuple(map(int, numbers))
    return version if name == "cpython" and version >= OLDEST else None  # a shim of pyenv may say nothing


def interpreters() -> dict[str, tuple[tuple[int, ...], str]]:
    """By minor version, the latest release found, and its path."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    for path in candidates():
        if path.endswith("-config") or not os.access(path, os.X_OK):
            continue
        if version := version_of(path):
            minor = ".".join(map(str, version[:2]))
            found[minor] = max(found.get(minor, (version, path)), (version, path))
    return dict(sorted(found.items(), key=lambda one: one[1]))


def last_result(log: str | os.PathLike[str]) -> str:
    """The last line of a log in which pytest counts tests."""
    with open(log, encoding="utf-8", errors="replace") as output:
        results = [line.strip() for line in output if " passed" in line or " failed" in line]
    return results[-1] if results else "no tests were run"


def main() -> int:
    failed = 0
    found = interpreters()
    for minor, (version, path) in found.items():
        log = f".venv-{minor}.log"
        with open(log, "wb") as output:
            command = ["make", "test-fast", f"VENV=.venv-{minor}", f"PYTHON={path}"]
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode
        failed += code != 0
        print(".".join(map(str, version)), last_result(log), f"(see {log})" if code else "", flush=True)
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
