"""What becomes of a message that is to be learned or forgotten."""

from __future__ import annotations

LEARNED, KNOWN, MOVED = "learned", "known", "moved"
FORGOTTEN, UNKNOWN = "forgotten", "unknown"
DUPLICATE, CONFLICTING = (
    "duplicate",
    "conflicting",
)  # a second copy in the same run, under the same label or another one


def outcome(before: str | None, after: str | None) -> str:
    """What it means for a message to go from one label to another, None standing for not learned."""
    if before == after:
        return UNKNOWN if after is None else KNOWN
    if after is None:
        return FORGOTTEN
    return LEARNED if before is None else MOVED
