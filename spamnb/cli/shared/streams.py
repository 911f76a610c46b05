"""Standard output: its failures are errors of ours."""

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
    """Bytes to standard output. A failure is an error of ours: click has its own exit code for others."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Reported once: the interpreter tries the rest again when it ends, and would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            raise output_error(error) from error


def replace_stdout() -> None:
    """Make standard output report when it is closed, and write `?` for letters that it lacks."""
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    sys.stdout = io.TextIOWrapper(raw, encoding, errors="replace", line_buffering=raw.isatty())
