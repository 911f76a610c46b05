"""Compile the core: spamnb/core/native.pyx and the files that it includes become one extension.

hatchling calls this for a wheel or an editable install; `python hatch_build.py` compiles in place if the
extension is missing, or older than a source. After a change of the flags below: `make clean`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
CORE = Path("spamnb/core")
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
DIRECTIVES = {
    "language_level": 3,
    "auto_pickle": False,  # no class with C types is sent to another process
    "binding": False,  # functions as simple as those of C: the module is loaded faster
    "boundscheck": True,
    "cdivision": True,
    "initializedcheck": False,
    "wraparound": False,
}
# Products are rounded before they are added, where aarch64 could do both at once: scores are the same on
# every machine.
# Strings are not packed, as each delivery would have to unpack them.
FLAGS = "-O2 -g0 -fwrapv -ffp-contract=off -DCYTHON_COMPRESS_STRINGS=0".split()
# Loops over bytes, 16 at a time; clang does so by itself, and knows no such flag.
WIDE_LOOPS = "-fvect-cost-model=dynamic"
NO_COMPILER = "spamnb cannot be compiled: no C compiler (docs/installation.md says what to do)"


def sources(root: Path = ROOT) -> list[Path]:
    """Return the source files of the extension."""
    return sorted(root.glob(f"{CORE}/*.pyx"))


def library(root: Path = ROOT) -> Path:
    """Return the path of the extension."""
    return root / CORE / f"native{SUFFIX}"


def is_compiled(root: Path = ROOT) -> bool:
    """Return whether the extension exists and is not older than any source file."""
    made = library(root)
    return made.exists() and made.stat().st_mtime >= max(source.stat().st_mtime for source in sources(root))


def compile_core(root: Path, into: Path) -> Path:
    """Compile the extension of the source in `root` into the folder `into`; return its path.

    All paths are relative, so that the result does not depend on the folder.
    """
    compiling, linking = compiler()
    newest = max(source.stat().st_mtime for source in sources(root))
    tell("compiling the core")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / CORE, Path(folder, CORE), ignore=shutil.ignore_patterns("*.so"))
        if not Path(folder, CORE, "native.c").exists():
            write_c(Path(folder))
        run([*compiling, str(CORE / "native.c"), "-o", "native.o"], folder)
        made = library(into)
        made.parent.mkdir(parents=True, exist_ok=True)
        run([*linking, "native.o", "-o", f"{made.absolute()}.new", *words_of("LDFLAGS"), "-lm"], folder)
    os.utime(f"{made}.new", (newest, newest))  # a change made meanwhile is later
    os.replace(f"{made}.new", made)  # processes may run the one before
    return made


def write_c(root: Path) -> None:
    """Translate the extension to C, beside its sources, for builds where no Cython is new enough."""
    settings = [word for name, value in DIRECTIVES.items() for word in ("-X", f"{name}={value}")]
    name = "spamnb.core.native"  # which Cython takes from files that are not copied, as spamnb/__init__.py
    run([sys.executable, "-m", "cython", "--module-name", name, *settings, str(CORE / "native.pyx")], root)


def words_of(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))


def compiler() -> tuple[list[str], list[str]]:
    """Return the commands that compile and link C, with the flags with which this Python was built."""
    theirs, linking, flags, position_free = (
        shlex.split(sysconfig.get_config_var(name) or "") for name in ("CC", "LDSHARED", "CFLAGS", "CCSHARED")
    )
    named = words_of("CC")
    found = [words for words in ([named] if named else [theirs, ["cc"]]) if words and shutil.which(words[0])]
    if not found and not named and find_spec("ziglang"):  # which `make env` installs where there is none
        found = [[sys.executable, "-m", "ziglang", "cc"]]
    if not found:
        sys.exit(NO_COMPILER)
    headers = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(headers, "Python.h")):
        sys.exit(f"spamnb cannot be compiled: no {headers}/Python.h (Debian: apt install python3-dev)")
    # Not where libraries of this Python lie: a module needs none, and the path would be that of this machine.
    linking = [word for word in linking[len(theirs) :] if not word.startswith(("-L", "-Wl,-rpath"))]
    # Nobody reads warnings about C that Cython wrote: looking for them takes a seventh of the time.
    quiet = [word for word in flags if word != "-Wall"]
    knows_flag = not subprocess.run(
        [*found[0], WIDE_LOOPS, "-E", "-x", "c", os.devnull], capture_output=True
    ).returncode
    ours = [*FLAGS, *([WIDE_LOOPS] if knows_flag else []), *words_of("CFLAGS")]
    command = [*found[0], *quiet, *position_free, *ours]
    return [*command, f"-I{headers}", "-c"], [*command, *linking]


def run(command: list[str], folder: Path | str) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}spamnb cannot be compiled: {command[0]} exits with {done.returncode}")


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def compile_in_place(root: Path = ROOT) -> None:
    """Compile the extension if it is missing or old; delete an old one first, in case this fails."""
    if not is_compiled(root):
        library(root).unlink(missing_ok=True)
        compile_core(root, root)


class CompilingHook(BuildHookInterface[Any]):
    """Puts the compiled core into a wheel, or beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            compile_in_place(Path(self.root))
            return
        self.folder = tempfile.TemporaryDirectory()
        into = Path(self.folder.name)
        made = compile_core(Path(self.root), into)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"][str(made)] = str(made.relative_to(into))

    def finalize(self, version: str, *_: object) -> None:
        if version != "editable":
            self.folder.cleanup()


if __name__ == "__main__":
    compile_in_place()
