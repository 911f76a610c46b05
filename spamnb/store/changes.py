"""What learning or forgetting a message changes in a model: the word for it, and the journal's record."""

from spamnb.core.native import growth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from spamnb.store.journal import JournalRecord, Lesson
    from spamnb.store.stored_model import StoredModel

nan = float("nan")
LEARNED, KNOWN, MOVED = "learned", "known", "moved"
FORGOTTEN, UNKNOWN = "forgotten", "unknown"
# A second copy in the same run, under the same label or another one.
DUPLICATE, CONFLICTING = "duplicate", "conflicting"


def outcome(before: str | None, after: str | None) -> str:
    """Return a word, such as "moved", for a change of a message's label; the label None: not learned."""
    if before == after:
        return UNKNOWN if after is None else KNOWN
    if after is None:
        return FORGOTTEN
    return LEARNED if before is None else MOVED


def change(
    stored: "StoredModel",
    message_hash: int,
    before: str | None,
    after: str | None,
    day: int,
    lesson: "Lesson",
    numbers: "Mapping[str, int]",
    score: float = nan,
    lead: float = nan,
    grown: "tuple[int, int] | None" = None,
) -> "dict[str, Any]":
    """Return the fields of a journal record; `grown`: how many words and pairs the model gains, if known."""
    words, times, text, pairs, grams = lesson
    new_tokens, new_pairs = grown or growth(stored.counts, words, pairs, after is None)
    return {
        "digest": message_hash,
        "before": before,
        "after": after,
        "day": day,
        "new_tokens": new_tokens,
        "new_pairs": new_pairs,
        "fingerprints": words,
        "occurrences": times,
        "text": text,
        "pairs": pairs,
        "grams": grams,
        "numbers": numbers,
        "score": score,
        "lead": lead,
    }


def carried_over(record: "JournalRecord", stored: "StoredModel") -> "dict[str, Any] | None":
    """Return the fields that repeat a record's change in `stored`; None if that is useless or impossible."""
    before = stored.label_of(record.digest)
    if before == record.after or (record.after is not None and record.after not in stored.labels):
        return None
    about = record.day, record.lesson, record.numbers, record.score, record.lead
    return change(stored, record.digest, before, record.after, *about)
