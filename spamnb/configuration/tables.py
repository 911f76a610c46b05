"""Read TOML files, and check their keys and types; errors name the file, line and key."""

from __future__ import annotations

import os

from spamnb.errors import DataError, NoInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

KINDS = {"str": "a text in quotes", "int": "a whole number", "bool": "true or false"}
TEXTS = "tuple[str, ...]"


class WrongValue(DataError):
    """An error: a key is unknown or missing, or has a wrong value."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key


def read_toml(path: str) -> tuple[dict[str, Any], os.stat_result]:
    """Read a TOML file; return its keys and values, and the status of the file, as from `os.stat`."""
    try:
        with open(path, "rb") as file:
            data, status = file.read(), os.fstat(file.fileno())
    except OSError as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else NoInput
        raise kind(f"{path}: {error.strerror}") from error
    table = plain_values(data)
    if table is None:
        import tomllib

        try:
            table = tomllib.loads(data.decode())
        except (ValueError, RecursionError) as error:  # not TOML, or not UTF-8
            raise DataError(f"{path}: {error}") from error
    return table, status


def plain_values(data: bytes) -> dict[str, Any] | None:
    """Parse simple TOML: lines such as `key = "text"`, `key = 12`, `key = true`; return None for other TOML.

    This saves a delivery the import of tomllib, which takes as long as the start of Python.
    """
    values: dict[str, Any] = {}
    for line in data.decode("utf-8", "replace").split("\n"):
        if not line.isprintable() or "\N{REPLACEMENT CHARACTER}" in line:
            return None
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = [part.strip() for part in line.partition("=")]
        text = value[1:-1]
        if not (key.replace("_", "").isalnum() and key.isascii()) or key in values:
            return None
        if value in ("true", "false"):
            values[key] = value == "true"
        elif value.isdecimal() and len(value) < 10 and str(int(value)) == value:
            values[key] = int(value)
        elif value == f'"{text}"' and '"' not in text and "\\" not in text:
            values[key] = text
        else:
            return None
    return values


def checked_values(
    table: Mapping[str, Any], types: Mapping[str, Any], secrets: Collection[str] = ()
) -> dict[str, Any]:
    """Return a TOML table's values, after a check of their types; errors hide values of keys in `secrets`."""
    values = {}
    for key, value in table.items():
        if key not in types:
            raise WrongValue(key, unknown_key(key, types))
        wanted = types[key]
        if wanted == TEXTS:
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise WrongValue(key, f'{key} must be a list of texts, e.g. ["INBOX"]')
            value = tuple(texts)
        elif type(value).__name__ not in wanted.split(" | "):
            raise WrongValue(key, wrong_kind(key, wanted.partition(" ")[0], value, key in secrets))
        values[key] = value
    return values


def wrong_kind(key: str, wanted: str, value: Any, is_secret: bool) -> str:
    """Return an error text. It says which type the value must have, or that a number needs quotes."""
    if wanted == "str" and type(value) in (int, float) and not is_secret:
        return f'{key} must be quoted, e.g. "{value}"'
    return f"{key} must be {KINDS[wanted]}" + ("" if is_secret else f", not {value!r}")


def unknown_key(key: str, known: Collection[str]) -> str:
    """Return the error text for an unknown key; suggest a similar key in `known`, if there is one."""
    from difflib import get_close_matches

    near = get_close_matches(key, known, 1)
    return f"unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def place_of_key(path: str, *keys: str) -> str:
    """Return `path:line` of a key, or of its table if the key is missing; `keys`: its tables, then its name.

    tomllib does not report lines. So line 1 is parsed, then lines 1 to 2, and so on until the key appears.
    """
    import tomllib

    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    for wanted in (keys, keys[:-1]):
        start = 1
        for number in range(1, len(lines) + 1):
            try:
                found: Any = tomllib.loads("".join(lines[:number]))
            except tomllib.TOMLDecodeError:
                continue
            for key in wanted:
                found = found.get(key) if isinstance(found, dict) else None
            if found is not None:
                return f"{path}:{start}"
            start = number + 1
    return path
