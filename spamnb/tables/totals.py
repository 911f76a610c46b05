"""Sums over a whole table, or over a shard of one; the sums of all shards add up to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array, counted_columns, distinct_columns
from spamnb.tables.count_table import CountTable, NumberSums, add_sums, sum_grams


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over a table, and the highest counts and the size of the text, by which columns are laid out."""

    labels: tuple[str, ...]
    messages: list[int]  # [label], as the next three
    presences: list[int]
    occurrences: list[int]
    pair_presences: list[int]
    vocabulary: int
    pair_vocabulary: int
    text: int  # bytes of all tokens
    highest: int  # of all counts of tokens
    highest_of_pairs: int
    numbers: NumberSums
    patterns: Array  # [label, n] the different columns of message counts
    pattern_tokens: Array  # how many tokens have each of these columns
    grams: Array  # as in a table

    @classmethod
    def of(cls, table: CountTable) -> Totals:
        words, pairs = np.flatnonzero(table.words), np.flatnonzero(~table.words)
        message_counts, of_pairs = (table.message_counts.take(places, axis=1) for places in (words, pairs))
        return cls(
            table.labels,
            list(table.messages),
            message_counts.sum(axis=1, dtype=np.int64).tolist(),
            table.occurrence_counts.sum(axis=1, dtype=np.int64).tolist(),
            of_pairs.sum(axis=1, dtype=np.int64).tolist(),
            message_counts.shape[1],
            of_pairs.shape[1],
            len(table.texts.data),
            max(int(message_counts.max(initial=0)), int(table.occurrence_counts.max(initial=0))),
            int(of_pairs.max(initial=0)),
            table.numbers,
            *counted_columns(message_counts),
            table.grams,
        )

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Count the tokens that share the same numbers of messages per label."""
        return dict(zip(zip(*self.patterns.tolist(), strict=True), self.pattern_tokens.tolist(), strict=True))


def sum_totals(shards: Sequence[Totals]) -> Totals:
    """Add up the totals of the shards of a table."""
    patterns, which = distinct_columns(np.concatenate([shard.patterns for shard in shards], axis=1))
    tokens = np.concatenate([shard.pattern_tokens for shard in shards])

    def sum_of(name: str) -> Any:
        return sum(getattr(shard, name) for shard in shards)

    def by_label(name: str) -> list[int]:
        return [sum(column) for column in zip(*(getattr(shard, name) for shard in shards), strict=True)]

    return Totals(
        shards[0].labels,
        by_label("messages"),
        by_label("presences"),
        by_label("occurrences"),
        by_label("pair_presences"),
        sum_of("vocabulary"),
        sum_of("pair_vocabulary"),
        sum_of("text"),
        max(shard.highest for shard in shards),
        max(shard.highest_of_pairs for shard in shards),
        add_sums(shard.numbers for shard in shards),
        patterns,
        np.bincount(which, tokens, patterns.shape[1]).astype(np.int64),
        sum_grams([shard.grams for shard in shards]),
    )
