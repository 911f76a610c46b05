"""JSON on standard output."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from spamnb.mailboxes.skipped import Unreadable


def print_json(value: Any) -> None:
    import json

    print(json.dumps(infinity_as_null(value), indent=2, allow_nan=False))


def infinity_as_null(value: Any) -> Any:
    """Replace infinite numbers, which JSON lacks: a cutoff that no score reaches is null."""
    if isinstance(value, dict):
        return {name: infinity_as_null(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [infinity_as_null(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def paths_and_reasons(found: Iterable[Unreadable]) -> list[dict[str, str]]:
    """Describe mail that was not read: where it is, and why."""
    return [{"path": item.path, "why": item.why} for item in found]
