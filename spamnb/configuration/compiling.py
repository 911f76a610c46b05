"""Compiling the configuration files into one cache file."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import time_ns
from typing import TYPE_CHECKING, Any

from spamnb import __version__
from spamnb.configuration.current import (
    ALLOWED,
    DEFAULTS,
    ENTRY,
    FILE,
    HEAD,
    HEADER_STYLES,
    LISTS,
    MOST_PARTS,
    PAGE,
    Configuration,
    SenderLists,
    cache_path,
    config_folders,
    stamp_of,
    stamps,
)
from spamnb.configuration.quantities import parse_days, parse_percentage, parse_size
from spamnb.configuration.tables import TEXT_OR_NUMBER, WrongValue, checked_values, place_of_key, read_toml
from spamnb.errors import DataError, NoInput, UsageError
from spamnb.files import make_folder, write_all
from spamnb.reading.features import fingerprint_of
from spamnb.reading.headers import without_tag
from spamnb.store import msgpack_codec

if TYPE_CHECKING:
    from spamnb.configuration.current import Stamp

TYPES = {key: type(value).__name__ for key, value in DEFAULTS.items()} | {"history_days": TEXT_OR_NUMBER}
NEVER = frozenset(" *,;<>\N{REPLACEMENT CHARACTER}")  # in an entry of a list
WILD = ("*@", "@", "*.")  # other ways to write "all of a domain"
LONGEST_LINE = 1000  # characters of a list
# Nanoseconds: a file written since may change once more without another time; clocks of file servers differ.
SETTLED, SKEW = 50_000_000, 10_000_000_000


def compile_files(write: bool = True) -> Configuration:
    """Compile the files that there are, and write the cache, if that can be done.

    Stamps are taken before the files are read: what changes meanwhile is noticed the next time.
    """
    sources = stamps()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for folder in config_folders():
        for key, (value, origin) in read_folder(folder, sources).items():
            values[key], origins[key] = value, origin
    entries: dict[int, int] = {}
    for name in reversed(LISTS):  # of an entry in both, the one that allows counts
        if values.get(name):
            sources.setdefault(values[name], stamp_of(values[name]))
            bit = ALLOWED if name == "allow" else 0
            for entry in read_list(values[name], name, origins[name]):
                entries[fingerprint_of(entry.encode()) & ~ALLOWED] = bit
    return packed(values, origins, sources, entries, cache_path() if write else None)


def read_folder(folder: str, sources: dict[str, Stamp]) -> dict[str, tuple[Any, str]]:
    """Read what a folder says of each key, and the file that says so."""
    path = os.path.join(folder, FILE)
    found: dict[str, tuple[Any, str]] = {}
    for name in LISTS:
        listed = os.path.join(folder, f"{name}.txt")
        if sources.get(listed):
            found[name] = listed, listed
    try:
        table, _ = read_toml(path)
    except FileNotFoundError:
        return found
    try:
        values = checked_values(table, TYPES)
        for key, check in CHECKS.items():
            if key in values:
                check_value(key, values[key], check)
    except WrongValue as error:
        raise DataError(f"{place_of_key(path, error.key)}: {error}") from None
    for name in ("model", *LISTS):
        if values.get(name):
            values[name] = os.path.join(folder, os.path.expanduser(values[name]))
    return found | {key: (value, path) for key, value in values.items()}


def check_value(key: str, value: Any, check: Callable[[str, str], object]) -> None:
    """Raise WrongValue for a value that makes no sense."""
    try:
        check(str(value), key)
    except UsageError as error:
        raise WrongValue(key, str(error)) from None


def check_model(path: str, _key: str) -> None:
    if "://" in path:
        raise UsageError(f"model must be a local file, not {path!r}")


def check_header_style(style: str, _key: str) -> None:
    if style not in HEADER_STYLES:
        raise UsageError(f"header_style must be one of {', '.join(HEADER_STYLES)}, not {style!r}")


def check_header(header: str, _key: str) -> None:
    name = header.lower()  # see reading.identity.is_volatile
    if not (name.startswith("x-") and "spam" in name and name.isascii() and name.replace("-", "").isalnum()):
        why = "so that no verdict is ever learned as mail"
        raise UsageError(
            f'header must be a name such as "X-Spam-Verdict", with X- and spam in it, {why}, not {header!r}'
        )


def check_subject_tag(tag: str, _key: str) -> None:
    if tag and (not tag.isascii() or without_tag(tag.strip())):
        raise UsageError(f'subject_tag must be a tag such as "[spam]" or "***SPAM***", not {tag!r}')


# What a value must be besides its type; called with the value and the key.
CHECKS: dict[str, Callable[[str, str], object]] = {
    "model": check_model,
    "ham_loss": parse_percentage,
    "header_style": check_header_style,
    "header": check_header,
    "subject_tag": check_subject_tag,
    "history_days": parse_days,
    "history_size": parse_size,
}


def read_list(path: str, key: str, origin: str) -> Iterator[str]:
    """Yield the addresses and domains of a list."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                entry = line.partition("#")[0].strip().lower()
                if not entry:
                    continue
                for sign in WILD:
                    entry = entry.removeprefix(sign)
                local, at, domain = entry.rpartition("@")
                if (
                    (at and not local)
                    or not entry.isprintable()
                    or not NEVER.isdisjoint(entry)
                    or "" in domain.rstrip(".").split(".")
                    or domain.count(".") >= MOST_PARTS
                ):
                    raise DataError(
                        f"{path}:{number}: not an address or domain: {line.strip()[:LONGEST_LINE]!r}"
                    )
                yield entry.rstrip(".")
    except OSError as error:
        named = "" if origin == path else f"{place_of_key(origin, key)}: {key}: "
        raise NoInput(f"{named}{path}: {error.strerror}") from error


def packed(
    values: dict[str, Any],
    origins: dict[str, str],
    sources: dict[str, Stamp],
    entries: dict[int, int],
    path: str | None,
) -> Configuration:
    """Make a configuration, and write it to its cache."""
    pages = b"".join(
        key.to_bytes(ENTRY, "little") for key in sorted(key | bit for key, bit in entries.items())
    )
    starts = range(0, len(pages), PAGE)
    firsts = b"".join(pages[at : at + ENTRY] for at in starts)
    checksums = b"".join(crc32(pages[at : at + PAGE]).to_bytes(4, "little") for at in starts)
    now = time_ns()
    is_settled = not any(stamp and now - SETTLED < stamp[0] < now + SKEW for stamp in sources.values())
    if path is not None and is_settled:
        about = {"program": __version__, "values": values, "origins": origins, "sources": sources}
        with suppress(OSError, ValueError):  # then it is compiled each time
            head = msgpack_codec.pack({**about, "firsts": firsts, "checksums": checksums})
            numbers = (HEAD + len(head) + len(pages), len(head), crc32(head))
            write_cache(path, b"".join(number.to_bytes(4, "little") for number in numbers) + head + pages)
    senders = SenderLists(-1, 0, firsts, checksums, pages) if entries else None
    return Configuration(values, origins, sources, senders)


def write_cache(path: str, data: bytes) -> None:
    """Put a cache in place, whole; it need not survive a crash."""
    make_folder(os.path.dirname(path))
    new = f"{path}.{os.getpid()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
        os.replace(new, path)
    except OSError:
        os.unlink(new)
        raise
