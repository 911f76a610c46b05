"""The two forms of the package that are fuzzed, each in a folder of its own under .fuzz/."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.paths import ROOT

KEPT = ROOT / ".fuzz"
SANITIZED, INTERPRETED = ("sanitized", "interpreted")
# Behind all flags of the build, so that these count: with its -fwrapv no overflow would be found.
FLAGS = (
    "-O1 -g -fno-wrapv -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link "
    "-fno-sanitize-recover=all"
)
BUILT = ("*.so", "*.c", "__pycache__")


def environment(form: str) -> dict[str, str]:
    """Make a form if it is not there, or of another source; return what a process needs to load it."""
    package = {SANITIZED: sanitized, INTERPRETED: interpreted}[form]()
    chosen = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (package, ROOT / "tests")))}
    if form == SANITIZED:
        chosen |= {
            "LD_PRELOAD": str(runtime()),
            "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=4:quarantine_size_mb=16",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONMALLOC": "malloc",  # so that every object is watched
        }
    return chosen


def runtime() -> Path:
    """AddressSanitizer, UndefinedBehaviorSanitizer and libFuzzer in one, as atheris brings them."""
    import atheris

    return Path(atheris.path()) / "asan_with_fuzzer.so"


def interpreted() -> Path:
    """The sources alone."""
    folder = KEPT / INTERPRETED
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "spamnb", folder / "spamnb", ignore=shutil.ignore_patterns(*BUILT))
    return folder


def sanitized() -> Path:
    """The package as its own build makes it, by a compiler that adds what watches and guides a search."""
    folder = KEPT / SANITIZED
    package, mark, source = folder / "package", folder / "made-of", folder / "source"
    now = digest_of_sources()
    if mark.is_file() and mark.read_text() == now:
        return package
    if not (shutil.which("clang") and runtime().is_file()):
        sys.exit("no clang, or none of its sanitizers: --interpreted searches without")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "spamnb", source / "spamnb", ignore=shutil.ignore_patterns(*BUILT))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    compiler = folder / "compiler"
    compiler.write_text(f'#!/bin/sh\nexec clang "$@" {FLAGS}\n')
    compiler.chmod(0o755)
    tools = {"CC": str(compiler), "SPAMNB_COMPILE": "require"}
    install = [sys.executable, *"-m pip install -q --no-deps --target".split()]
    subprocess.run([*install, package, source], check=True, env={**os.environ, **tools})
    if not list(package.rglob("*.so")):
        sys.exit("nothing was compiled")
    print(f"compiled with {FLAGS}", flush=True)
    mark.write_text(now)
    return package


def digest_of_sources() -> str:
    digest = hashlib.sha256(FLAGS.encode())
    for path in sorted((ROOT / "spamnb").rglob("*.p*")):
        if path.suffix in (".py", ".pxd"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
