"""Reading TOML files: tables whose keys and types are known, so that a mistake is told with file and key."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from spamnb.errors import DataError, NoInput

KINDS = {"str": "a text", "int": "a whole number", "bool": "true or false"}
TEXTS = "tuple[str, ...]"


def read_toml(path: str) -> tuple[dict[str, Any], os.stat_result]:
    """Read a file, and the status it had."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file), os.fstat(file.fileno())
    except OSError as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else NoInput
        raise kind(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from error


def checked_values(
    table: Mapping[str, Any], types: Mapping[str, Any], secrets: Collection[str] = ()
) -> dict[str, Any]:
    """Return the values of a table, each of the type that its key has; values of secrets are never told."""
    values = {}
    for key, value in table.items():
        if key not in types:
            raise DataError(unknown_key(key, types))
        wanted = types[key]
        if wanted == TEXTS:
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise DataError(f'{key} is a list of texts, like ["INBOX"]')
            value = tuple(texts)
        elif type(value).__name__ != wanted:
            raise DataError(f"{key} is {KINDS[wanted]}, not {'a secret' if key in secrets else repr(value)}")
        values[key] = value
    return values


def unknown_key(key: str, known: Collection[str]) -> str:
    """Say that a key is unknown, and which one may be meant."""
    near = get_close_matches(key, known, 1)
    return f"unknown key {key!r}" + (f"; {near[0]!r} is meant?" if near else "")
