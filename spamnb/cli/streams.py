"""Standard output, such that it fails in one way only."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING

from spamnb.delivery.stdin import output_error
from spamnb.files import STDOUT

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(io.FileIO):
    """Bytes to standard output. A failure is an error of ours: of others click makes its own exit code."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Told once: the interpreter tries the rest again when it ends, and would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            raise output_error(error) from error


# What tables and bars are drawn with, and what stands for it where the terminal lacks it.
PLAIN = {"─": "-", "│": "|", "█": "#", "–": "-", "−": "-", "×": "x", "…": "~"}
LONGER = {"…": "...", "∞": "inf"}  # where there is still room to be made for it
ERRORS = "spamnb.plain"


def settle_output() -> None:
    """Letters that a terminal lacks are replaced; a closed output is not taken for a patient one."""
    codecs.register_error(ERRORS, in_plain_letters)
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    encoding = (
        "ascii" if raw.isatty() and is_plain_locale() else sys.stdout.encoding if sys.stdout else "utf-8"
    )
    sys.stdout = io.TextIOWrapper(raw, encoding, errors=ERRORS, line_buffering=raw.isatty())


def is_plain_locale() -> bool:
    """Whether a terminal is said to have only the letters of ASCII; Python would write UTF-8 to it."""
    if any(os.environ.get(name) for name in ("PYTHONIOENCODING", "PYTHONUTF8")):
        return False
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return next(filter(None, names), "") in ("C", "POSIX")


def in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded, one letter by one: tables stay straight."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end


def drawable(text: str) -> str:
    """Text as standard output can have it, before it is laid out."""
    encoding = sys.stdout.encoding
    if text.isascii() or encoding.lower().startswith("utf"):
        return text
    for char, instead in LONGER.items():
        text = text.replace(char, instead)
    return text.encode(encoding, ERRORS).decode(encoding)
