"""What a search runs, kept in .fuzz/: the core compiled with sanitizers, and libFuzzer as a library."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.paths import ROOT

KEPT = ROOT / ".fuzz"
PACKAGE = KEPT / "package"
DRIVER = KEPT / "driver.so"
# Behind all flags of the build, so that these count: with its -fwrapv no overflow would be found. Comparisons
# are not traced, as by fuzzer-no-link: a sixth of the time and more. What Cython writes adds 0 to NULL.
FLAGS = (
    "-O1 -gline-tables-only -fno-wrapv -fno-omit-frame-pointer -fsanitize=address,undefined "
    "-fno-sanitize=pointer-overflow -fsanitize-coverage=inline-8bit-counters,pc-table "
    "-fno-sanitize-recover=all -fsanitize-coverage-ignorelist=$(dirname $0)/not-counted"
)
# Many edges are in what Cython adds; all counters are read after each run.
NOT_COUNTED = "fun:__Pyx_*\nfun:__pyx_pymod_*\nfun:__pyx_memoryview*\nfun:__pyx_tp_*\n"
# Each object of Python is watched, which takes a third of the time of a run and more. The driver has to come
# before the sanitizers, which know its functions, too, and do nothing in them.
SANITIZERS = "detect_leaks=0:verify_asan_link_order=0:malloc_context_size=2:quarantine_size_mb=1"
BUILT = ("*.so", "*.c", "__pycache__")
MEMORY = Path("spamnb/core/memory.pyx")
# Each piece of an arena is watched by itself, and nothing in it is used after it is cleared.
WATCHED = {
    "    size = (size + 15) & ~<Size>15\n": "    add_block(arena, size)\n",
    "MAX_KEPT = 1 << 22": "MAX_KEPT = 0",
}


def environment() -> dict[str, str]:
    """Make what is not there, or of another source; return what a process needs to load it."""
    if not shutil.which("clang"):
        sys.exit("no clang (Debian: apt install clang libclang-rt-dev)")
    compile_core()
    link_driver()
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (PACKAGE, ROOT / "tests"))),
        "LD_PRELOAD": f"{DRIVER} {of_clang('asan', 'so')}",
        "ASAN_OPTIONS": SANITIZERS,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def compile_core() -> None:
    """Compile the package as its own build does, by a compiler that adds what watches and guides a search.

    Only if a source changed, or the flags did.
    """
    compiler, script = PACKAGE / "compiler", f'#!/bin/sh\nexec clang "$@" {FLAGS}\n'
    if not (compiler.is_file() and compiler.read_text() == script):
        shutil.rmtree(PACKAGE, ignore_errors=True)
    library = [path.rename(PACKAGE / path.name) for path in PACKAGE.glob("spamnb/core/*.so")]
    shutil.rmtree(PACKAGE / "spamnb", ignore_errors=True)
    shutil.copytree(ROOT / "spamnb", PACKAGE / "spamnb", ignore=shutil.ignore_patterns(*BUILT))
    for path in library:
        path.rename(PACKAGE / "spamnb/core" / path.name)
    source = (ROOT / MEMORY).read_text()
    for text, watched in WATCHED.items():
        assert source.count(text) == 1, text
        source = source.replace(text, watched)
    (PACKAGE / MEMORY).write_text(source)
    shutil.copystat(ROOT / MEMORY, PACKAGE / MEMORY)  # by whose time it is compiled again
    shutil.copy2(ROOT / "hatch_build.py", PACKAGE)
    (PACKAGE / "not-counted").write_text(NOT_COUNTED)
    compiler.write_text(script)
    compiler.chmod(0o755)
    environment = {**os.environ, "CC": str(compiler)}
    subprocess.run([sys.executable, PACKAGE / "hatch_build.py"], check=True, env=environment)


def link_driver() -> None:
    """Make a library of libFuzzer, which clang brings to be put into a program."""
    archive = str(of_clang("fuzzer_no_main", "a"))
    whole = ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]
    subprocess.run(
        ["clang++", "-shared", "-o", str(DRIVER), *whole, *"-lpthread -ldl -lm".split()], check=True
    )


def of_clang(name: str, suffix: str) -> Path:
    """Find a library that clang brings for this machine."""
    asked = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True)
    folder, machine = Path(asked.stdout.strip(), "lib"), platform.machine()
    forms = (f"*/libclang_rt.{name}-{machine}.{suffix}", f"{machine}-*/libclang_rt.{name}.{suffix}")
    found = [path for form in forms for path in folder.glob(form)]
    if not found:
        sys.exit(f"clang has no {name} (Debian: apt install libclang-rt-dev)")
    return found[0]
