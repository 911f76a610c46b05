"""Standard output, whose failures become errors of spamnb."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from spamnb.delivery.commands import output_error
from spamnb.files import STDOUT

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(io.FileIO):
    """Standard output as bytes; a failure raises an error of spamnb, since click would exit with code 1."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Report it once: the interpreter writes the rest again at its end, and would report it again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            raise output_error(error) from error


def replace_stdout() -> None:
    """Replace standard output by one that reports failures, and writes `?` for letters it cannot encode."""
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    sys.stdout = io.TextIOWrapper(raw, encoding, errors="replace", line_buffering=raw.isatty())
