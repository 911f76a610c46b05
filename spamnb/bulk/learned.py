"""Which messages were learned, under which label, and how each scored when it was not."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]

NOWHERE = -1  # the place of a message that is not learned


@dataclass(frozen=True, eq=False)
class Learned:
    """Sorted digests. A score is that of the message by the other mail; NaN where it was not taken."""

    digests: Array
    labels: Array  # place of each one's label
    scores: Array

    @classmethod
    def of(
        cls, digests: Sequence[int], labels: Sequence[int], scores: Sequence[float] | None = None
    ) -> Learned:
        order = np.argsort(np.array(digests, np.uint64), kind="stable")
        values = np.full(len(digests), np.nan) if scores is None else np.array(scores)
        return cls(
            np.array(digests, np.uint64)[order],
            np.array(labels, np.int8)[order],
            values.astype(np.float32)[order],
        )

    def __len__(self) -> int:
        return len(self.digests)

    def place(self, digest: int) -> int:
        at = bisect_left(self.digests, digest)
        if at < len(self.digests) and self.digests[at] == digest:
            return int(self.labels[at])
        return NOWHERE

    def relabelled(self, places: Sequence[int]) -> Learned:
        """The same with the labels in other places."""
        return replace(self, labels=np.array([*places, NOWHERE], np.int8)[self.labels])

    def scored(self, digests: Array, scores: Array) -> Learned:
        """With scores of some of the messages renewed."""
        renewed = self.scores.copy()
        renewed[np.searchsorted(self.digests, digests)] = scores
        return replace(self, scores=renewed)


def in_turn(parts: Sequence[Learned]) -> Learned:
    """One after the other: where a digest stands in several, the last holds; NOWHERE removes it."""
    digests = np.concatenate([part.digests for part in parts])
    order = np.argsort(digests, kind="stable")
    digests = digests[order]
    labels = np.concatenate([part.labels for part in parts])[order]
    scores = np.concatenate([part.scores for part in parts])[order]
    last = np.ones(len(digests), bool)
    last[:-1] = digests[1:] != digests[:-1]
    kept = last & (labels != NOWHERE)
    return Learned(digests[kept], labels[kept], scores[kept])
