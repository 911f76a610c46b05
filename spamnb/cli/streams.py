"""Standard output, such that it fails in one way only."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from spamnb.delivery import output_error
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


def settle_output() -> None:
    """Letters that a terminal lacks are replaced; a closed output is not taken for a patient one."""
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(raw, encoding, errors="replace", line_buffering=raw.isatty())
