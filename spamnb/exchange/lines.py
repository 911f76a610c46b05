"""Lines of an export, counted, so that an error can name one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spamnb.errors import DataError

MAX_LINE = 64 << 10  # bytes


class Lines:
    """Lines of an export, of which the first is known before the others are read."""

    def __init__(self, path: str, blocks: Iterable[bytes]) -> None:
        self.path = path
        self.number = 0
        self._lines = self._split(blocks)
        first = next(self._lines, None)
        if first is None:
            raise DataError(f"{path}: the export is empty")
        self.first = first

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        yield from self._lines

    def _split(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        rest = b""
        for block in blocks:
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield self._next(line)
            if len(rest) > MAX_LINE:
                self._next(rest)
        if rest:
            yield self._next(rest)

    def _next(self, line: bytes) -> bytes:
        self.number += 1
        if len(line) > MAX_LINE:
            raise self.error(f"longer than {MAX_LINE:,} bytes")
        return line.removesuffix(b"\r")

    def error(self, why: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {why}")
