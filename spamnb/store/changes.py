"""What one message changes in a model: the records of a journal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from spamnb.store.counts import Row
    from spamnb.store.journal_record import Entry
    from spamnb.store.stored import Stored


def change(
    stored: Stored,
    digest: int,
    before: str | None,
    after: str | None,
    day: int,
    tokens: Sequence[tuple[int, int, str]],
    pairs: Sequence[int],
    numbers: Mapping[str, int | float],
    score: float,
) -> dict[str, Any]:
    """A record: of each token its fingerprint, how often it occurs, and itself, in that order."""
    if stored.head["settings"]["closed"]:
        known, neighbours = stored.rows([token[0] for token in tokens]), stored.pair_rows(pairs)
        tokens = [token for token in tokens if token[0] in known]
        pairs = [pair for pair in pairs if pair in neighbours]
    fingerprints = [number for number, _, _ in tokens]
    return {
        "digest": digest,
        "before": before,
        "after": after,
        "day": day,
        "new_tokens": _new(stored, fingerprints, stored.rows(fingerprints).values(), after),
        "new_pairs": _new(stored, pairs, stored.pair_rows(pairs).values(), after),
        "fingerprints": _column(8, fingerprints),
        "occurrences": _column(2, [times for _, times, _ in tokens]),
        "text": "".join(f"{token}\n" for _, _, token in tokens).encode(),
        "pairs": _column(8, pairs),
        "numbers": numbers,
        "score": score,
    }


def carried_over(entry: Entry, stored: Stored) -> dict[str, Any] | None:
    """The same change made to another model; None if it is in it, or cannot be."""
    before = stored.label_of(entry.digest)
    if before == entry.after or (entry.after is not None and entry.after not in stored.labels):
        return None
    tokens = bytes(entry.text).decode().split("\n")[:-1]
    return change(
        stored,
        entry.digest,
        before,
        entry.after,
        entry.day,
        list(zip(entry.fingerprints, entry.occurrences, tokens, strict=True)),
        list(entry.pairs),
        entry.numbers,
        entry.score,
    )


def _new(stored: Stored, numbers: Sequence[int], known: Collection[Row], after: str | None) -> int:
    """By how many the vocabulary grows; on forgetting it loses what stands in this message only."""
    if after is not None:
        return len(numbers) - len(known)
    return -sum(sum(row[: len(stored.labels)]) == 1 for row in known)


def _column(size: int, values: Sequence[int]) -> bytes:
    return b"".join([value.to_bytes(size, "little") for value in values])
