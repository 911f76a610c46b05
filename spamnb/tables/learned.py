"""Which messages were learned, under which label, and how each scored when it was not."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import range_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.store.journal_record import JournalRecord
    from spamnb.store.stored_model import StoredModel

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

    @classmethod
    def load(cls, stored: StoredModel) -> Learned:
        """Those of a model file and its journal. Checksums are not looked at."""
        return cls.load_shard(stored, 0, 1)

    @classmethod
    def load_shard(cls, stored: StoredModel, shard: int, shards: int) -> Learned:
        """Those whose digests are in one of so many equal ranges."""
        digests = stored.column("digests")
        first, end = (bisect_left(digests, number) for number in range_of(shard, shards))

        def column(name: str) -> Array:
            own = stored.column(name)
            data = own.file.read(own.at + first * own.width, (end - first) * own.width)
            return np.frombuffer(data, f"<{own.kind}")

        file = cls(column("digests"), column("digest_labels").astype(np.int8), column("digest_scores"))
        later = [entry for entry in stored.journal.records if entry.digest in range(*range_of(shard, shards))]
        return in_turn([file, *(cls.of_entry(entry, stored.labels) for entry in later)])

    @classmethod
    def of_entry(cls, entry: JournalRecord, labels: Sequence[str]) -> Learned:
        """That of a journal's record."""
        place = NOWHERE if entry.after is None else labels.index(entry.after)
        return cls.of([entry.digest], [place], [entry.score])

    def __len__(self) -> int:
        return len(self.digests)

    def places(self, digests: Array, unknown: int = NOWHERE) -> Array:
        """The places of their labels."""
        if not len(self):
            return np.full(len(digests), unknown, np.int8)
        at = np.minimum(np.searchsorted(self.digests, digests), len(self) - 1)
        return np.where(self.digests[at] == digests, self.labels[at], np.int8(unknown))

    def chosen(self, which: Array) -> Learned:
        """Some of them: a mask, or places in order."""
        return Learned(self.digests[which], self.labels[which], self.scores[which])

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


def joined(parts: Sequence[Learned]) -> Learned:
    """One after the other: where a digest stands in several, the last holds."""
    digests = np.concatenate([part.digests for part in parts])
    order = np.argsort(digests, kind="stable")
    digests = digests[order]
    last = np.ones(len(digests), bool)
    last[:-1] = digests[1:] != digests[:-1]
    order = order[last]
    labels = np.concatenate([part.labels for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    return Learned(digests[last], labels[order], scores[order])


def in_turn(parts: Sequence[Learned]) -> Learned:
    """The same; NOWHERE removes a message."""
    everything = joined(parts)
    return everything.chosen(everything.labels != NOWHERE)
