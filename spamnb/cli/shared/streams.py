"""Standard output: its failures are errors of ours, and what a terminal cannot show is replaced."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING

from spamnb.delivery.commands import output_error
from spamnb.files import STDOUT

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(io.FileIO):
    """Bytes to standard output. A failure is an error of ours: click has its own exit code for others."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Reported once: the interpreter tries the rest again when it ends, and would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            raise output_error(error) from error


# Characters that tables and bars are drawn with, and what replaces them where the terminal lacks them.
PLAIN = {"─": "-", "│": "|", "█": "#", "–": "-", "−": "-", "×": "x", "…": "~"}
LONGER = {"…": "...", "∞": "inf"}  # replaced before a table is laid out, so that there is room
ERRORS = "spamnb.plain"  # the name of in_plain_letters as an error handler


def replace_stdout() -> None:
    """Make standard output replace letters that a terminal lacks, and report when it is closed."""
    codecs.register_error(ERRORS, in_plain_letters)
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    encoding = (
        "ascii" if raw.isatty() and is_plain_locale() else sys.stdout.encoding if sys.stdout else "utf-8"
    )
    sys.stdout = io.TextIOWrapper(raw, encoding, errors=ERRORS, line_buffering=raw.isatty())


def is_plain_locale() -> bool:
    """Tell whether the locale has only the letters of ASCII; Python would write UTF-8 even so."""
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
    """Replace what standard output cannot encode, before a text is laid out."""
    encoding = sys.stdout.encoding
    if text.isascii() or encoding.lower().startswith("utf"):
        return text
    for char, instead in LONGER.items():
        text = text.replace(char, instead)
    return text.encode(encoding, ERRORS).decode(encoding)
