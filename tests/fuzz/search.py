"""One search by atheris, in the process that it ends: the name of a target, then options of libFuzzer."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["spamnb"]):
    from fuzz.targets import TARGETS, WORDS
from fuzz.common import in_time


def main(name: str, options: list[str]) -> None:
    target = TARGETS[name]
    seeds, words = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp()) / "words"
    for number, seed in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(seed)
    words.write_text("".join(f'"{escaped(word)}"\n' for word in WORDS))
    options += [f"-max_len={target.largest}", f"-dict={words}", str(seeds)]
    atheris.Setup([sys.argv[0], *options], in_time(target.check))
    atheris.Fuzz()


def escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
