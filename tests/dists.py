"""`make dist-test`: what is in dist/, installed and used on each CPython from 3.11 on that is found.

Each file gets a clean environment outside the tree, as a user would make it: a wheel with nothing on the
PATH, the source with a compiler. `make test-pythons` runs the tests; 3.12 or the like chooses a Python.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
HAM, SPAM = b"Subject: lunch\n\nsee you at noon\n", b"Subject: money\n\nbuy pills now, cheap\n"


def interpreter(minor: str) -> str:
    """Find a Python on the PATH, or one of pyenv's."""
    ask = [f"python{minor}", "-c", "import sys; print(sys.executable)"]
    try:
        return subprocess.check_output(ask, text=True, env=os.environ | {"PYENV_VERSION": minor}).strip()
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""


def try_out(python: str, file: Path) -> str:
    """Install, learn, judge; return what it says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/env/bin" + (f":{os.environ['PATH']}" if file.suffix == ".gz" else "")
        where = os.environ | {"PATH": path, "SPAMNB_MODEL": f"{folder}/model"}

        def run(*command: str, stdin: bytes = b"") -> str:
            return subprocess.check_output(command, input=stdin, cwd=folder, env=where).decode().strip()

        run(python, "-m", "venv", "env")
        run("env/bin/python", "-m", "pip", "install", "-q", str(file))
        for label, raw in (("ham", HAM), ("spam", SPAM)):
            run("env/bin/spamnb", "train", f"--{label}", "-", stdin=raw)
        assert run("env/bin/spamnb", "classify", stdin=SPAM).split()[0] in ("spam", "unsure")
        return run("env/bin/spamnb", "--version")


def main() -> None:
    for minor in sys.argv[1:] or VERSIONS:
        wheels = ROOT.glob(f"dist/*-cp{minor.replace('.', '')}-*linux*.whl")
        for file in (*wheels, *ROOT.glob("dist/*.tar.gz")):
            if python := interpreter(minor):
                print(f"{minor}: {file.name}: {try_out(python, file)}: passed", flush=True)


if __name__ == "__main__":
    main()
