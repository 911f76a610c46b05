"""Compile the core, which is every module of spamnb with a `.pxd` beside it, where there is a C compiler.

All modules are put into one library, from which spamnb/__init__.py has them loaded: a library each would take
a delivery twice as long to load.

hatchling calls this for a wheel or an editable install; `python hatch_build.py` compiles in place what is not
compiled, or older than its source. $SPAMNB_COMPILE decides: `require` fails where that cannot be done, `no`
does not try; without it, a core that cannot be compiled is left to run interpreted.
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
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
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
# Products are rounded before they are added, where aarch64
# could do both at once: scores equal the interpreted ones.
# Strings are not packed, as each delivery would have to unpack them.
FLAGS = "-O2 -g0 -fwrapv -ffp-contract=off -DCYTHON_COMPRESS_STRINGS=0".split()
WIDE_LOOPS = (
    "-fvect-cost-model=dynamic"  # over bytes, 16 at a time; clang does so by itself, and knows no such flag
)
# A module without types only calls Python: a third of the time to compile, and no slower.
UNTYPED_FLAGS = ["-O0"]


class CannotCompile(Exception):
    """The reason, in one line, and what the compiler printed."""

    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.output = output


class WrongSource(CannotCompile):
    """Cython refuses a module, which is no fault of the machine."""


class Progress:
    """Says on standard error how many modules are done: of each on a terminal, of every tenth elsewhere."""

    def __init__(self, doing: str, total: int) -> None:
        self.doing = doing
        self.total = total
        self.done = 0
        self.lock = Lock()

    def step(self, modules: int = 1) -> None:
        with self.lock:
            before, self.done = self.done, self.done + modules
            is_last = self.done == self.total
            if is_last or sys.stderr.isatty() or before // 10 < self.done // 10:
                end = "\r" if sys.stderr.isatty() and not is_last else "\n"
                print(f"{self.doing}: {self.done} of {self.total}", end=end, file=sys.stderr, flush=True)


def core(root: Path = ROOT) -> list[Path]:
    """List the modules to compile, by the paths of their sources."""
    sources = sorted(types.with_suffix(".py") for types in root.glob("spamnb/**/*.pxd"))
    return [source for source in sources if source.exists()]


def compiled(root: Path = ROOT) -> list[Path]:
    """List what this Python would import in place of a source."""
    return [
        path
        for path in root.glob("spamnb/**/*.so")
        if path.name[path.name.index(".") :] in EXTENSION_SUFFIXES
    ]


def library(root: Path = ROOT) -> Path:
    return root / "spamnb" / f"core{SUFFIX}"


def changed(source: Path, root: Path = ROOT) -> float:
    """Tell when a module's source was changed last: code, types, types it takes from others, or this file."""
    everything = list(root.glob("spamnb/**/*.pxd"))
    found, left = {source, Path(__file__)}, {source.with_suffix(".pxd")}
    while left:
        types = left.pop()
        found.add(types)
        lines = [line for line in types.read_text().splitlines() if "cimport" in line]
        named = set(re.findall(r"\w+", " ".join(lines)))
        left |= {other for other in everything if other.stem in named} - found
    return max(path.stat().st_mtime for path in found)


def stale(root: Path = ROOT) -> list[Path]:
    """List what must not be imported: a library of other modules, or of one that changed since; any other."""
    sources = core(root)
    modules, time = {source.stem.encode() for source in sources}, last_change(sources, root)
    return [
        path
        for path in compiled(root)
        if path != library(root)
        or path.stat().st_mtime < time
        or set(re.findall(rb"\0PyInit_(\w+)(?=\0)", path.read_bytes())) != modules
    ]


def last_change(sources: list[Path], root: Path) -> float:
    return max([changed(source, root) for source in sources], default=0.0)


def compile_core(root: Path, into: Path, objects: Path) -> Path:
    """Compile what has no object or an older one, and link all; return the library.

    All paths are relative, so that the result is the same wherever it is made.
    """
    command, linking = compiler()
    ours = [shlex.split(os.environ.get(name, "")) for name in ("CFLAGS", "LDFLAGS")]
    times = {source.relative_to(root): changed(source, root) for source in core(root)}
    old = [source for source, time in times.items() if not is_newer(objects / f"{source.stem}.o", time)]
    if old:
        what = "1 module" if len(old) == 1 else f"{len(old)} modules"
        wait = ", which takes some minutes" if len(old) > 10 else ""
        print(f"compiling {what} of the core{wait}", file=sys.stderr, flush=True)
    progress = Progress("compiled", len(old))
    with tempfile.TemporaryDirectory(dir=objects) as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        shutil.copytree(root / "spamnb", Path(folder, "spamnb"), ignore=shutil.ignore_patterns("*.so"))
        translate(
            [source for source in old if not is_newer(root / source.with_suffix(".c"), times[source])], folder
        )

        def compile_module(source: Path) -> None:
            flags = [] if "cdef" in (root / source).with_suffix(".pxd").read_text() else UNTYPED_FLAGS
            run([*command, *flags, *ours[0], str(source.with_suffix(".c")), "-o", f"{source.stem}.o"], folder)
            put(os.path.join(folder, f"{source.stem}.o"), objects / f"{source.stem}.o", times[source])
            progress.step()

        largest_first = sorted(old, key=lambda source: -(root / source).stat().st_size)
        list(pool.map(compile_module, largest_first))
    made = library(into)
    made.parent.mkdir(parents=True, exist_ok=True)
    names = [f"{source.stem}.o" for source in times]
    run([*linking, *ours[0], *names, "-o", f"{made.absolute()}.new", *ours[1], "-lm"], objects)
    put(f"{made}.new", made, max(times.values()))
    return made


def is_newer(path: Path, time: float) -> bool:
    return path.exists() and path.stat().st_mtime >= time


def put(new: str, path: Path, time: float) -> None:
    os.utime(new, (time, time))  # a change made meanwhile is later
    os.replace(new, path)  # processes may run the one before


def compiler() -> tuple[list[str], list[str]]:
    """Return the commands that compile C and that link, with the flags this Python was made with."""
    theirs, linking, flags, position_free = (
        shlex.split(sysconfig.get_config_var(name) or "") for name in ("CC", "LDSHARED", "CFLAGS", "CCSHARED")
    )
    named = shlex.split(os.environ.get("CC", ""))
    found = [words for words in ([named] if named else [theirs, ["cc"]]) if words and shutil.which(words[0])]
    if not found:
        raise CannotCompile(f"no C compiler ({' '.join(named or theirs)})")
    headers = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(headers, "Python.h")):
        raise CannotCompile(f"no {headers}/Python.h (Debian: apt install python3-dev)")
    # Not where libraries of this Python lie: a module needs none, and the path would be that of this machine.
    linking = [word for word in linking[len(theirs) :] if not word.startswith(("-L", "-Wl,-rpath"))]
    # Nobody reads warnings about C that Cython wrote: looking for them takes a seventh of the time.
    quiet = [word for word in flags if word != "-Wall"]
    knows_flag = not subprocess.run(
        [*found[0], WIDE_LOOPS, "-E", "-x", "c", os.devnull], capture_output=True
    ).returncode
    command = [*found[0], *quiet, *position_free, *FLAGS, *([WIDE_LOOPS] if knows_flag else [])]
    return [*command, f"-I{headers}", "-c"], [*command, *linking]


def translate(sources: list[Path], folder: Path | str) -> None:
    """Write modules, given by their paths from the folder, in C beside them.

    Some modules for each process, as Cython takes a second to load.
    """
    if sources and not find_spec("Cython"):
        raise CannotCompile("no Cython")
    settings = [word for name, value in DIRECTIVES.items() for word in ("-X", f"{name}={value}")]
    command = [sys.executable, "-m", "cython", *settings, "-I", "."]
    cores = os.cpu_count() or 1
    count = max(cores, len(sources) // 8)
    progress = Progress("translated to C", len(sources))

    def translate_share(share: list[Path]) -> None:
        run([*command, *map(str, share)], folder, WrongSource)
        progress.step(len(share))

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(translate_share, filter(None, (sources[first::count] for first in range(count)))))


def write_c(root: Path) -> None:
    """Write beside each module its C, for a build where there is no Cython, or one that is too old."""
    translate([source.relative_to(root) for source in core(root)], root)


def run(command: list[str], folder: Path | str, error: type[CannotCompile] = CannotCompile) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        first = re.search(r"^\S+:\d+:\d+: (?!warning|note).*", done.stdout, re.MULTILINE)
        reason = first[0] if first else f"{command[0]} exits with {done.returncode}"
        raise error(reason, done.stdout)


def attempt(root: Path, into: Path, objects: Path) -> Path | None:
    """Compile the core if $SPAMNB_COMPILE wants it and it can be done; return the library, else None."""
    wish = os.environ.get("SPAMNB_COMPILE", "")
    if wish not in ("", "require", "no"):
        sys.exit(f"SPAMNB_COMPILE={wish} means nothing: require, no, or not set")
    if wish == "no":
        return None
    try:
        return compile_core(root, into, objects)
    except CannotCompile as error:
        if wish == "require" or (into == root and isinstance(error, WrongSource)):
            sys.exit(f"{error.output}spamnb cannot be compiled: {error}")
        print(f"spamnb is not compiled, and runs slower with the same results: {error}", file=sys.stderr)
        return None


def compile_in_place(root: Path = ROOT) -> None:
    """Compile what is missing or stale, and keep the objects of single modules for the next time."""
    unwanted = compiled(root) if os.environ.get("SPAMNB_COMPILE") == "no" else stale(root)
    for path in unwanted:
        path.unlink()
    if core(root) and not library(root).exists():
        objects = root / ".objects" / SUFFIX.strip(".")
        objects.mkdir(parents=True, exist_ok=True)
        attempt(root, root, objects.absolute())


class CompilingHook(BuildHookInterface[Any]):
    """Puts the compiled core into a wheel, or beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable":
            compile_in_place(root)
            return
        self.folder = tempfile.TemporaryDirectory()
        into = Path(self.folder.name)
        if core(root) and (made := attempt(root, into, into)):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][str(made)] = str(made.relative_to(into))

    def finalize(self, version: str, *_: object) -> None:
        if version != "editable":
            self.folder.cleanup()


if __name__ == "__main__":
    compile_in_place()
