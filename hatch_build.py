"""Compile the core, which is every module of spamnb with a `.pxd` beside it, into one library.

spamnb/__init__.py has them loaded from it: a library each would take a delivery twice as long to load.

hatchling calls this for a wheel or an editable install; `python hatch_build.py` compiles in place what is not
compiled, or older than its source. After a change of the flags below: `make clean`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
# Types come from the .pxd alone: Cython would take hints for types, and refuse subclasses of them.
DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,
    "auto_pickle": False,  # no class with C types is sent to another process
    "binding": False,  # functions as simple as those of C: a module of them is loaded in 0.1 ms less
    "boundscheck": True,
    "cdivision": False,
    "initializedcheck": False,
    "wraparound": True,
}
# -O1 takes two thirds of the time to compile and trains 12 % slower; -O3 twice as long, and no faster.
# Products are rounded before they are added, where aarch64 could do both at once: scores are the same on
# every machine.
# Strings are not packed, as each delivery would have to unpack them.
FLAGS = "-O2 -g0 -fwrapv -ffp-contract=off -DCYTHON_COMPRESS_STRINGS=0".split()
WIDE_LOOPS = (
    "-fvect-cost-model=dynamic"  # over bytes, 16 at a time; clang does so by itself, and knows no such flag
)
NO_COMPILER = "spamnb cannot be compiled: no C compiler (docs/installation.md has what to do)"


def core(root: Path = ROOT) -> list[Path]:
    """List the modules to compile, by the paths of their sources."""
    sources = sorted(types.with_suffix(".py") for types in root.glob("spamnb/**/*.pxd"))
    return [source for source in sources if source.exists()]


def library(root: Path = ROOT) -> Path:
    return root / "spamnb" / f"core{SUFFIX}"


def objects_folder(root: Path = ROOT) -> Path:
    """Folder that keeps the object of each module for the next time."""
    return root / ".objects" / SUFFIX.strip(".")


def changed(source: Path, root: Path = ROOT) -> float:
    """Tell when a module was changed last: its code, its types, or types that it takes from others."""
    everything = list(root.glob("spamnb/**/*.pxd"))
    found, left = {source}, {source.with_suffix(".pxd")}
    while left:
        types = left.pop()
        found.add(types)
        lines = [line for line in types.read_text().splitlines() if "cimport" in line]
        named = set(re.findall(r"\w+", " ".join(lines)))
        left |= {other for other in everything if other.stem in named} - found
    return max(path.stat().st_mtime for path in found)


def is_current(path: Path, time: float) -> bool:
    return path.exists() and path.stat().st_mtime >= time


def is_compiled(root: Path = ROOT) -> bool:
    """Whether the library is there, of just these modules as they are now."""
    made, sources = library(root), core(root)
    return is_current(made, max(changed(source, root) for source in sources)) and set(
        re.findall(rb"\0PyInit_(\w+)(?=\0)", made.read_bytes())
    ) == {source.stem.encode() for source in sources}


def compile_core(root: Path, into: Path, objects: Path) -> Path:
    """Compile what has no object or an older one, and link all; return the library.

    All paths are relative, so that the result is the same wherever it is made.
    """
    compiling, linking = compiler()
    times = {source.relative_to(root): changed(source, root) for source in core(root)}
    old = [source for source, time in times.items() if not is_current(objects / f"{source.stem}.o", time)]
    old.sort(key=lambda source: -(root / source).stat().st_size)  # the largest takes longest
    tell(f"compiling {len(old)} of {len(times)} modules of the core")
    with tempfile.TemporaryDirectory(dir=objects) as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        shutil.copytree(root / "spamnb", Path(folder, "spamnb"), ignore=shutil.ignore_patterns("*.so"))
        translate([source for source in old if not (root / source.with_suffix(".c")).exists()], folder)

        def compile_module(source: Path) -> None:
            run([*compiling, str(source.with_suffix(".c")), "-o", f"{source.stem}.o"], folder)
            put(os.path.join(folder, f"{source.stem}.o"), objects / f"{source.stem}.o", times[source])
            tell(f"compiled {source.stem}")

        list(pool.map(compile_module, old))
    made = library(into)
    made.parent.mkdir(parents=True, exist_ok=True)
    names = [f"{source.stem}.o" for source in times]
    run([*linking, *names, "-o", f"{made.absolute()}.new", *words_of("LDFLAGS"), "-lm"], objects)
    put(f"{made}.new", made, max(times.values()))
    return made


def put(new: str, path: Path, time: float) -> None:
    os.utime(new, (time, time))  # a change made meanwhile is later
    os.replace(new, path)  # processes may run the one before


def words_of(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))


def compiler() -> tuple[list[str], list[str]]:
    """Return the commands that compile C and that link, with the flags this Python was made with."""
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
        sys.exit(f"no {headers}/Python.h (Debian: apt install python3-dev)")
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


def translate(sources: list[Path], folder: Path | str) -> None:
    """Write modules, given by their paths from the folder, in C beside them, some by each process."""
    settings = [word for name, value in DIRECTIVES.items() for word in ("-X", f"{name}={value}")]
    command = [sys.executable, "-m", "cython", *settings, "-I", "."]
    cores = os.cpu_count() or 1
    shares = [[*command, *map(str, sources[first::cores])] for first in range(min(cores, len(sources)))]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(run, shares, [folder] * len(shares)))


def write_c(root: Path) -> None:
    """Write beside each module its C, for a build where there is no Cython, or one that is too old."""
    translate([source.relative_to(root) for source in core(root)], root)


def run(command: list[str], folder: Path | str) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}spamnb cannot be compiled: {command[0]} exits with {done.returncode}")


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def compile_in_place(root: Path = ROOT) -> None:
    """Compile what is missing or old; a library that is old must not be imported, whatever comes of it."""
    if not is_compiled(root):
        library(root).unlink(missing_ok=True)
        objects_folder(root).mkdir(parents=True, exist_ok=True)
        compile_core(root, root, objects_folder(root).absolute())


class CompilingHook(BuildHookInterface[Any]):
    """Puts the compiled core into a wheel, or beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            compile_in_place(Path(self.root))
            return
        self.folder = tempfile.TemporaryDirectory()
        into = Path(self.folder.name)
        made = compile_core(Path(self.root), into, into)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"][str(made)] = str(made.relative_to(into))

    def finalize(self, version: str, *_: object) -> None:
        if version != "editable":
            self.folder.cleanup()


if __name__ == "__main__":
    compile_in_place()
