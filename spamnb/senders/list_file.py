"""Read a list of senders that a person writes: one address or domain per line."""

from __future__ import annotations

from spamnb.errors import DataError, NoInput
from spamnb.reading.envelope import in_ascii
from spamnb.senders.lists import MAX_PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FORBIDDEN = frozenset(" *,;<>\N{REPLACEMENT CHARACTER}")  # characters that no entry has
WILDCARDS = ("*@", "@", "*.")  # other ways to write "all of a domain"
MAX_LINE_LENGTH = 1000  # characters of a wrong line that an error shows


def read_list(path: str | None) -> Iterator[str]:
    """Yield the addresses and domains of the list in a file; yield nothing if `path` is None."""
    lines = []
    try:
        if path:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if text := line.partition("#")[0].strip():
            entry = entry_of(text)
            if entry is None:
                shown = repr(line.strip()[:MAX_LINE_LENGTH])
                raise DataError(f"{path}:{number}: not an address or domain: {shown}")
            yield entry


def entry_of(text: str) -> str | None:
    """Return an entry in lower case, in ASCII, without wildcards; None if it is no address and no domain."""
    entry = text.lower()
    for sign in WILDCARDS:
        entry = entry.removeprefix(sign)
    local, at, domain = entry.rpartition("@")
    if (
        (at and not local)
        or not entry.isprintable()
        or not FORBIDDEN.isdisjoint(entry)
        or "" in domain.rstrip(".").split(".")
        or domain.count(".") >= MAX_PARTS
    ):
        return None
    return local + at + in_ascii(domain.rstrip("."))
