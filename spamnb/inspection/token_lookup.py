"""The counts and weights of a token or of two neighbouring words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from spamnb.core.native import fingerprints_of, pair_fingerprint
from spamnb.inspection.model_summary import day_text, label_leads
from spamnb.inspection.words import words_of
from spamnb.model import Model

if TYPE_CHECKING:
    from spamnb.core.native import Counts
    from spamnb.store.counts import Row

Value = TypeVar("Value", int, float)
Words = tuple[str, ...]  # a token alone, or both words of a pair


@dataclass(frozen=True)
class TokenFacts:
    """The counts and weights of a token or of two neighbouring words."""

    token: str
    known: bool
    messages: dict[str, int]
    occurrences: dict[str, int] | None  # None for a pair, of which only messages are counted
    probabilities: dict[str, float] | None = None  # P(token | label), by the model's view
    weights: dict[str, float] | None = None  # by `label_leads`
    counts: bool = False  # whether the weights are far enough apart to be evidence
    first_seen: str | None = None
    last_seen: str | None = None
    is_pair: bool = False  # two words side by side
    base_messages: dict[str, int] | None = (
        None  # of the base, if there is one; the weights are with the counts of both
    )


def look_up(model: Model, asked: str) -> TokenFacts:
    """Look up what a user asked for: a token, or two neighbouring words with a space between."""
    spellings: list[Words] = [(asked,), (as_tokenized(model, asked),)]
    match asked.split():
        case [first, second]:
            spellings += [(first, second), (as_tokenized(model, first), as_tokenized(model, second))]
    known = rows_of(model.counts, spellings) or rows_of(model.stored.counts, spellings)
    if not known:
        nothing = dict.fromkeys(model.labels, 0)
        return TokenFacts(asked, False, nothing, nothing)
    words, both = next(iter(known.items()))
    label_count, is_pair, nothing_of_it = len(model.labels), len(words) == 2, (0,) * len(both)
    row = rows_of(model.stored.counts, [words]).get(words, nothing_of_it)
    of_base = rows_of(model.base.counts, [words]).get(words, nothing_of_it) if model.base else None
    first_seen, last_seen = (None, None) if is_pair or not any(row) else days_seen(model, words)
    is_read = model.view.pairs or not is_pair
    return TokenFacts(
        " ".join(words),
        True,
        by_label(model, row[:label_count]),
        None if is_pair else by_label(model, row[label_count:]),
        by_label(model, model.classifier.probabilities(both)) if is_read else None,
        by_label(model, label_leads(model.classifier, both)) if is_read else None,
        is_read and model.classifier.is_evidence(both),
        first_seen,
        last_seen,
        is_pair,
        by_label(model, of_base[:label_count]) if of_base else None,
    )


def as_tokenized(model: Model, token: str) -> str:
    """Return a token as the tokenizer spells it, since people may ask for `Subject:Free`."""
    tag, colon, word = token.rpartition(":")
    return tag.lower() + colon + " ".join(model.tokenizer.words.of(word))


def rows_of(counts: Counts, spellings: Sequence[Words]) -> dict[Words, Row]:
    """Return a dict with the counts of tokens and pairs, in the given order, without those never learned."""
    fingerprints = {words: fingerprint_of(words) for words in spellings}
    rows = counts.lookup(list(fingerprints.values()))
    return {words: rows[number] for words, number in fingerprints.items() if number in rows}


def fingerprint_of(words: Words) -> int:
    """Return the fingerprint of a token or pair."""
    return pair_fingerprint(*words) if len(words) == 2 else fingerprints_of(words)[0]


def days_seen(model: Model, words: Words) -> tuple[str, str]:
    """Return the days on which a token was first and last seen, such as 2026-11-15."""
    fingerprint = np.uint64(fingerprint_of(words))
    for block in words_of(model.stored):
        at = int(np.searchsorted(block.fingerprints, fingerprint))
        if at < len(block.fingerprints) and block.fingerprints[at] == fingerprint:
            return day_text(int(block.first_days[at])), day_text(int(block.last_days[at]))
    raise KeyError(" ".join(words))


def by_label(model: Model, values: Sequence[Value]) -> dict[str, Value]:
    return dict(zip(model.labels, values, strict=True))
