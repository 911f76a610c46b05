"""What learning or forgetting a message changes in a model: the outcome, and the record of a journal."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from spamnb.store.counts import Row
    from spamnb.store.journal import JournalRecord
    from spamnb.store.stored_model import StoredModel

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


def change(
    stored: "StoredModel",
    digest: int,
    before: str | None,
    after: str | None,
    day: int,
    tokens: "Sequence[tuple[int, int, str]]",
    pairs: "Sequence[int]",
    grams: "Sequence[int]",
    numbers: "Mapping[str, int | float]",
    score: float,
    lead: float,
) -> "dict[str, Any]":
    """Return the fields of a record; a token is given by its fingerprint, occurrences and text."""
    fingerprints = [fingerprint for fingerprint, _, _ in tokens]
    return {
        "digest": digest,
        "before": before,
        "after": after,
        "day": day,
        "new_tokens": _growth(stored, fingerprints, stored.rows(fingerprints).values(), after),
        "new_pairs": _growth(stored, pairs, stored.pair_rows(pairs).values(), after),
        "fingerprints": _column(8, fingerprints),
        "occurrences": _column(2, [times for _, times, _ in tokens]),
        "text": "".join(f"{token}\n" for _, _, token in tokens).encode(),
        "pairs": _column(8, pairs),
        **({"grams": _column(4, grams)} if grams else {}),
        "numbers": numbers,
        "score": score,
        **({"lead": lead} if lead == lead else {}),  # no label has a lead where there are two
    }


def carried_over(record: "JournalRecord", stored: "StoredModel") -> "dict[str, Any] | None":
    """Return the fields of a record for the same change in another model; None if needless or impossible."""
    before = stored.label_of(record.digest)
    if before == record.after or (record.after is not None and record.after not in stored.labels):
        return None
    tokens = bytes(record.text).decode().split("\n")[:-1]
    return change(
        stored,
        record.digest,
        before,
        record.after,
        record.day,
        list(zip(record.fingerprints, record.occurrences, tokens, strict=True)),
        list(record.pairs),
        list(record.grams),
        record.numbers,
        record.score,
        record.lead,
    )


def _growth(
    stored: "StoredModel", fingerprints: "Sequence[int]", known: "Collection[Row]", after: str | None
) -> int:
    """Return by how many the vocabulary grows; forgetting takes away what only this message has."""
    if after is not None:
        return len(fingerprints) - len(known)
    return -sum(sum(row[: len(stored.labels)]) == 1 for row in known)


def _column(size: int, values: "Sequence[int]") -> bytes:
    return b"".join([value.to_bytes(size, "little") for value in values])
