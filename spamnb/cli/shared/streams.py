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
            # At its exit, Python writes the rest again: that must not fail, or the failure is reported twice.
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
            raise output_error(error) from error


def replace_stdout() -> None:
    """Replace `sys.stdout`, so that failures raise our errors, and letters it cannot encode become `?`."""
    raw = io.BufferedWriter(Output(STDOUT, "w", closefd=False))
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    sys.stdout = io.TextIOWrapper(raw, encoding, errors="replace", line_buffering=raw.isatty())
