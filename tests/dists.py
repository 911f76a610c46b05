"""`make dist-test`: what is in dist/, installed and tested on each CPython from 3.11 on that is found.

Each file gets a clean environment outside the tree, as a user would make it: a wheel with nothing on the
PATH, the source with a compiler. The tests' own tools are put beside it; of spamnb there is only what was
installed. With --quick a few tests are run, and nothing is compiled; 3.12 or the like chooses a Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# The first has pip: that of a new environment may be too old for the second.
LOCKS = [ROOT / "requirements.txt", ROOT / "requirements-dev.txt"]
QUICK = [
    "tests/test_library.py",
    "tests/test_core.py",
    "tests/delivery/test_classify.py",
    "tests/training/test_learn.py",
]
PLATFORMS = {
    "linux": ["manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64"],
    "macos": ["macosx_x86_64", "macosx_arm64"],
}


def main() -> int:
    quick = "--quick" in sys.argv
    named = [word for word in sys.argv[1:] if word != "--quick"]
    check_cibuildwheel()
    failed = [
        (minor, file.name)
        for minor in named or VERSIONS
        if (python := interpreter(minor))
        for file in files(minor)
        if not (quick and file.suffix == ".gz")
        if not passes(python, minor, file, quick)
    ]
    return 1 if failed else 0


def interpreter(minor: str) -> str | None:
    """Find a Python on the PATH, or one of pyenv's."""
    ask = [f"python{minor}", "-c", "import sys; print(sys.executable)"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, env=os.environ | {"PYENV_VERSION": minor})
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def check_cibuildwheel() -> None:
    """Ask cibuildwheel what pyproject.toml has it build."""
    for system, platforms in PLATFORMS.items():
        command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", system]
        built = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.split()
        wanted = {f"cp{minor.replace('.', '')}-{name}" for minor in VERSIONS for name in platforms}
        assert set(built) == wanted, set(built) ^ wanted
        print(f"cibuildwheel on {system}: {len(built)} wheels", flush=True)


def files(minor: str) -> list[Path]:
    """List what this Python can install: wheels, and the source."""
    dist = ROOT / "dist"
    return [*dist.glob(f"*-cp{minor.replace('.', '')}-*linux*.whl"), *dist.glob("*.tar.gz")]


def passes(python: str, minor: str, file: Path, quick: bool) -> bool:
    """Install, start, test; print a line."""
    compiler = file.suffix == ".gz"
    log = ROOT / "build" / f"dist-{minor}-{file.name}.log"
    log.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open(log, "w+", encoding="utf-8") as output:
        home = os.path.join(folder, "env")
        path = os.path.join(home, "bin") + (os.pathsep + os.environ["PATH"] if compiler else "")
        where = os.environ | {"PATH": path, "PYTHONSAFEPATH": "1"}

        def run(*command: str, **more: str) -> bool:
            done = subprocess.run(
                command, cwd=ROOT, env=where | more, stdout=output, stderr=subprocess.STDOUT
            )
            return done.returncode == 0

        run(python, "-m", "venv", home)
        program = os.path.join(home, "bin", "python")
        installed = run(program, "-m", "pip", "install", "-q", str(file))
        says = subprocess.run(
            [program, "-m", "spamnb", "--version"], cwd=folder, env=where, capture_output=True
        )
        (packages,) = Path(home).glob("lib/python*/site-packages")
        (packages / "tools.pth").write_text(f"{tools(python, minor)}\n")
        which = QUICK if quick else ["-n", "auto", "--dist", "worksteal"]
        testing = [program, "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", *which]
        good = installed and not says.returncode and run(*testing, PATH=os.environ["PATH"])
        where_from = f"{file.name}, {'with a compiler' if compiler else 'nothing on the PATH'}"
        said = says.stdout.decode().strip() or "does not start"
        output.seek(0)
        results = [line.strip() for line in output if " passed" in line or " failed" in line]
        result = results[-1] if results else "no tests were run"
        print(f"{minor}: {where_from}: {said}: {result}{'' if good else f' (see {log})'}", flush=True)
        return good


def tools(python: str, minor: str) -> Path:
    """Find the tests' tools, in the locked versions: in this environment, or in one for another Python."""
    if minor == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sysconfig.get_path("purelib"))
    home = ROOT / "build" / f"tools-{minor}"
    ready = home / ".ready"
    if not ready.exists() or ready.stat().st_mtime < max(lock.stat().st_mtime for lock in LOCKS):
        subprocess.run([python, "-m", "venv", "--clear", home], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-q"]
        for lock in LOCKS:
            subprocess.run([*pip, "--require-hashes", "-r", str(lock)], check=True)
        ready.touch()
    (packages,) = home.glob("lib/python*/site-packages")
    return packages


if __name__ == "__main__":
    sys.exit(main())
