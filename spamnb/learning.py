"""Learning one message at the cost of the message: a record in the journal."""

from __future__ import annotations

import time
from math import nan

from spamnb.counts import journal
from spamnb.counts.fingerprint import fingerprints, pair_fingerprints
from spamnb.counts.outcomes import KNOWN, LEARNED, UNKNOWN, outcome
from spamnb.counts.store import Stored
from spamnb.errors import CannotCreate, DataError
from spamnb.lock import Lock
from spamnb.mail.identity import digest
from spamnb.mail.message import read
from spamnb.model import Model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from spamnb.counts.table import Row
    from spamnb.tokens.tokenizer import Features


def learn(path: str, raw: bytes, label: str | None) -> str:
    """Learn a message under a label, or forget it (None). When this returns, the change is on disk."""
    message = read(raw)
    identity = digest(message)
    with Lock(path):
        stored = Stored(path)
        if label is not None and label not in stored.labels:
            raise DataError(f"{path}: has no label {label!r}; there are: {', '.join(stored.labels)}")
        before = stored.label_of(identity)
        result = outcome(before, label)
        if result in (KNOWN, UNKNOWN):
            return result
        model = Model(stored)
        features = model.tokenizer.features(message)
        fields = entry(stored, identity, before, label, features)
        # How the model judged it before it learned it: cutoffs are set by such scores.
        fields["score"] = model.classify_features(features).score if result == LEARNED else nan
        try:
            size = stored.journal.append(path + ".journal", stored.generation, fields)
        except OSError as error:
            raise CannotCreate(f"{path}.journal: {error.strerror}; the message was not learned") from error
        if size > journal.LIMIT:
            from spamnb.bulk.training import fold  # brings numpy; once in some hundred messages

            fold(path)
    return result


def entry(
    stored: Stored, identity: int, before: str | None, after: str | None, features: Features
) -> dict[str, Any]:
    """A journal record. Its tokens are in order of their fingerprints, like the model's."""
    tokens = list(features.tokens)
    ordered = sorted(zip(fingerprints(tokens), tokens, strict=True))
    pairs = list(features.pairs)
    return {
        "digest": identity,
        "before": before,
        "after": after,
        "day": int(time.time() // 86400),
        "new_tokens": new(stored, len(tokens), stored.rows(tokens).values(), after),
        "new_pairs": new(stored, len(pairs), stored.pair_rows(pairs).values(), after),
        "hashes": column(8, [number for number, _ in ordered]),
        "occurrences": column(2, [features.tokens[token] for _, token in ordered]),
        "text": "".join(f"{token}\n" for _, token in ordered).encode(),
        "pairs": column(8, sorted(pair_fingerprints(pairs))),
        "numbers": features.numbers,
    }


def new(stored: Stored, count: int, known: Collection[Row], after: str | None) -> int:
    """By how many the vocabulary grows; on forgetting it loses what stands in this message only."""
    if after is not None:
        return count - len(known)
    return -sum(sum(row[: len(stored.labels)]) == 1 for row in known)


def column(size: int, values: Sequence[int]) -> bytes:
    return b"".join([value.to_bytes(size, "little") for value in values])
