"""Read the configuration files: the value of each key, and the lists of senders."""

from __future__ import annotations

import os

from spamnb.configuration.quantities import parse_days, parse_percentage, parse_size
from spamnb.core.native import without_tag
from spamnb.errors import DataError, NoInput, UsageError
from spamnb.passthrough import check_style
from spamnb.senders.list_file import read_list
from spamnb.senders.lists import SenderLists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

PATHS = ("model", "allow", "block", "known")  # keys whose values are paths, relative to their file


def read_files(paths: Iterable[str], defaults: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the value of each key and the file that sets it; later `paths` override earlier ones.

    A list such as `allow.txt` sets the key `allow` to its own path; a later TOML file may name another list.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    types = {key: type(value).__name__ for key, value in defaults.items()} | {"history_days": "int | str"}
    for path in paths:
        key, kind = os.path.splitext(os.path.basename(path))
        if not os.path.exists(path):
            continue
        found = read_values(path, types) if kind == ".toml" else {key: path}
        values |= found
        origins |= dict.fromkeys(found, path)
    return values, origins


def read_values(path: str, types: dict[str, str]) -> dict[str, Any]:
    """Read a TOML file; return its values, checked by `types`. Paths in it are relative to its folder."""
    from spamnb.configuration.tables import WrongValue, checked_values, place_of_key, read_toml

    table, _ = read_toml(path)
    try:
        values = checked_values(table, types)
        for key, check in CHECKS.items():
            if key in values:
                check(str(values[key]), key)
    except (WrongValue, UsageError) as error:
        wrong = error.key if isinstance(error, WrongValue) else key
        raise DataError(f"{place_of_key(path, wrong)}: {error}") from None
    for name in PATHS:
        if values.get(name):
            values[name] = os.path.join(os.path.dirname(path), os.path.expanduser(values[name]))
    return values


def read_senders(values: dict[str, Any], origins: dict[str, str]) -> SenderLists:
    """Return the lists of allowed and blocked senders; raise NoInput if any configured list is missing."""
    for key in ("allow", "block", "known"):
        path = values.get(key)
        if path and not os.path.exists(path):
            from spamnb.configuration.tables import place_of_key

            named = "" if origins[key] == path else f"{place_of_key(origins[key], key)}: {key}: "
            raise NoInput(f"{named}{path}: No such file or directory")
    return SenderLists.of(read_list(values.get("allow")), read_list(values.get("block")))


def check_header(header: str, _key: str) -> None:
    name = header.lower()  # see core/identity.pyx
    if not (name.startswith("x-") and "spam" in name and name.isascii() and name.replace("-", "").isalnum()):
        example = 'header must begin with X- and contain "spam", e.g. "X-Spam-Verdict"'
        raise UsageError(f"{example}, not {header!r}; spamnb would learn any other header")


def check_subject_tag(tag: str, _key: str) -> None:
    if tag and (not tag.isascii() or without_tag(tag.strip())):
        raise UsageError(f'subject_tag must be a tag such as "[spam]" or "***SPAM***", not {tag!r}')


# Further checks, after the check of the type; each is called with the value and the key.
CHECKS: dict[str, Callable[[str, str], object]] = {
    "ham_loss": parse_percentage,
    "header_style": check_style,
    "header": check_header,
    "subject_tag": check_subject_tag,
    "history_days": parse_days,
    "history_size": parse_size,
}
