"""Outcomes of learning or forgetting a message."""

from __future__ import annotations

LEARNED, KNOWN, MOVED = "learned", "known", "moved"
FORGOTTEN, UNKNOWN = "forgotten", "unknown"
# A second copy in the same run, under the same label or another one.
DUPLICATE, CONFLICTING = "duplicate", "conflicting"


def outcome(before: str | None, after: str | None) -> str:
    """Return the outcome when a message goes from one label to another; None stands for not learned."""
    if before == after:
        return UNKNOWN if after is None else KNOWN
    if after is None:
        return FORGOTTEN
    return LEARNED if before is None else MOVED
