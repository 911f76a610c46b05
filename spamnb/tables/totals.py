"""Sums over a whole table, or over a shard of one: those of the shards add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import distinct_columns
from spamnb.tables.count_table import summed_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.tables.count_table import CountTable, Numbers


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over a table, and what a file has to have room for: the highest counts, the size of the text."""

    labels: tuple[str, ...]
    messages: list[int]  # [label], as all that follow
    presences: list[int]
    occurrences: list[int]
    pair_presences: list[int]
    vocabulary: int
    pair_vocabulary: int
    text: int  # bytes of all tokens
    most: int  # the highest count of a token
    most_of_pairs: int
    numbers: Numbers
    patterns: Array  # [label, n] different numbers of messages
    alike: Array  # how many tokens have each

    @classmethod
    def of(cls, table: CountTable) -> Totals:
        words = table.words
        message_counts, of_pairs = table.message_counts[:, words], table.message_counts[:, ~words]
        patterns, which = distinct_columns(message_counts)
        return cls(
            table.labels,
            list(table.messages),
            message_counts.sum(axis=1, dtype=np.int64).tolist(),
            table.occurrence_counts.sum(axis=1, dtype=np.int64).tolist(),
            of_pairs.sum(axis=1, dtype=np.int64).tolist(),
            message_counts.shape[1],
            of_pairs.shape[1],
            len(table.text),
            max(int(message_counts.max(initial=0)), int(table.occurrence_counts.max(initial=0))),
            int(of_pairs.max(initial=0)),
            table.numbers,
            patterns,
            np.bincount(which, minlength=patterns.shape[1]),
        )

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many tokens share the same messages per label."""
        return dict(zip(zip(*self.patterns.tolist(), strict=True), self.alike.tolist(), strict=True))


def summed(shards: Sequence[Totals]) -> Totals:
    """Totals of a table from those of its shards."""
    patterns, which = distinct_columns(np.concatenate([shard.patterns for shard in shards], axis=1))
    alike = np.concatenate([shard.alike for shard in shards])

    def of(name: str) -> Any:
        return sum(getattr(shard, name) for shard in shards)

    def by_label(name: str) -> list[int]:
        return [sum(column) for column in zip(*(getattr(shard, name) for shard in shards), strict=True)]

    return Totals(
        shards[0].labels,
        by_label("messages"),
        by_label("presences"),
        by_label("occurrences"),
        by_label("pair_presences"),
        of("vocabulary"),
        of("pair_vocabulary"),
        of("text"),
        max(shard.most for shard in shards),
        max(shard.most_of_pairs for shard in shards),
        summed_numbers(shard.numbers for shard in shards),
        patterns,
        np.bincount(which, alike, patterns.shape[1]).astype(np.int64),
    )
