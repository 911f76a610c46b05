"""Exports of other filters: their formats, and their lines, counted so that an error can name one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from spamnb.errors import DataError
from spamnb.exchange.importing.rules import ImportRule

LONGEST_LINE = 64 << 10  # bytes


class TokenCounts(NamedTuple):
    """Counts of a token; with an empty token, those of the messages."""

    token: str
    ham: int
    spam: int
    day: int = 0  # last seen, counted from 1970; 0 where that is not known


class Format(NamedTuple):
    """Export format of a filter."""

    name: str
    recognises: Callable[[bytes], bool]  # by its first line
    entries: Callable[[Lines], Iterator[TokenCounts]]
    rules: Mapping[str, ImportRule]  # by what a token begins with; "" fits all others
    unknown: str = ""  # what else is missing in its exports


class Lines:
    """Lines of an export, counted, so that an error can name one."""

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
            if len(rest) > LONGEST_LINE:
                self._next(rest)
        if rest:
            yield self._next(rest)

    def _next(self, line: bytes) -> bytes:
        self.number += 1
        if len(line) > LONGEST_LINE:
            raise self.error(f"longer than {LONGEST_LINE:,} bytes")
        return line.removesuffix(b"\r")

    def count(self, text: bytes | str) -> int:
        if not text.isdigit() or not text.isascii() or len(text) > 20:
            raise self.error(f"a count is needed, not {decoded(text)[:40]!r}")
        return int(text)

    def error(self, why: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {why}")


def decoded(text: bytes | str) -> str:
    """Decode a token; old filters keep them in whatever charset the mail had."""
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace")
