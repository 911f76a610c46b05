"""The two parts of a message that are weighed apart, and the neighbours in its texts."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD, BODY = 1, 0

# Every other tag is the name of a header.
BODY_TAGS = ("url:", "html:", "type:", "charset:", "file:", "hidden:", "trick:")


def part_of(token: str) -> int:
    """Whether a token comes from the head of a message or from its body; a word holds no colon."""
    return HEAD if ":" in token and not token.startswith(BODY_TAGS) else BODY


def pairs_in(runs: Iterable[list[str]]) -> set[tuple[str, str]]:
    """Neighbouring words of texts."""
    return {pair for run in runs for pair in pairwise(run)}
