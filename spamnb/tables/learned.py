"""The messages that a model learned: their digests, their labels, and how each was judged without itself."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spamnb.arrays import Array, shard_range
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.store.journal import JournalRecord
from spamnb.store.stored_model import StoredModel

NOT_LEARNED = -1  # in place of a label index
SCORES = "scores", "leads"  # columns that are NaN where they were not taken


@dataclass(frozen=True, eq=False)
class LearnedMessages:
    """Messages by their sorted digests. Scores and leads are by the other mail alone; NaN where not taken."""

    digests: Array
    labels: Array  # label indices
    scores: Array
    leads: Array  # how far a message's label was ahead of the others, spam left out

    @classmethod
    def of(
        cls,
        digests: Sequence[int] | Array,
        labels: Sequence[int] | Array,
        scores: Sequence[float] | None = None,
        leads: Sequence[float] | None = None,
    ) -> LearnedMessages:
        order = np.argsort(np.array(digests, np.uint64), kind="stable")
        taken = [np.full(len(order), np.nan) if each is None else np.array(each) for each in (scores, leads)]
        with np.errstate(over="ignore"):  # the largest float becomes infinite
            sorted_scores = [each.astype(np.float32)[order] for each in taken]
        return cls(np.array(digests, np.uint64)[order], np.array(labels, np.int8)[order], *sorted_scores)

    @classmethod
    def load(cls, stored: StoredModel, shard: int = 0, shards: int = 1) -> LearnedMessages:
        """Load the messages of a model file and its journal; checksums are not verified.

        Of several shards, load those whose digests are in one of `shards` equal ranges.
        """
        digests = stored.column("digests")
        within = range(*shard_range(shard, shards))
        first, end = bisect_left(digests, within.start), bisect_left(digests, within.stop)
        columns = {}
        for name, column in stored.columns.items():
            if name.startswith("digest"):
                data = column.file.read(column.at + first * column.width, (end - first) * column.width)
                columns[name] = np.frombuffer(data, f"<{column.kind}")
        in_file = cls.of_columns(stored, columns)
        later = [record for record in stored.journal.records if record.digest in within]
        return merge_learned([in_file, cls.of_records(later, stored.labels)]).remaining()

    @classmethod
    def of_columns(cls, stored: StoredModel, columns: Mapping[str, Array]) -> LearnedMessages:
        """Make a list of columns of a model file, or of the same stretch of each."""
        labels, scores = columns["digest_labels"], columns["digest_scores"]
        if labels.max(initial=0) >= len(stored.labels):
            raise ModelError(stored.path, f"its labels are damaged; {WHAT_TO_DO}")
        leads = columns.get("digest_leads", np.full_like(scores, np.nan))
        return cls(columns["digests"], labels.astype(np.int8), scores, leads)

    @classmethod
    def of_records(cls, records: Sequence[JournalRecord], labels: Sequence[str]) -> LearnedMessages:
        """Make a list of the messages of journal records; of several about one message, the last counts."""
        indices = [NOT_LEARNED if record.after is None else labels.index(record.after) for record in records]
        scores, leads = [record.score for record in records], [record.lead for record in records]
        return cls.of([record.digest for record in records], indices, scores, leads)

    def __len__(self) -> int:
        return len(self.digests)

    def label_indices(self, digests: Array, unknown: int = NOT_LEARNED) -> Array:
        """Look up the labels of messages."""
        if not len(self):
            return np.full(len(digests), unknown, np.int8)
        at = np.minimum(np.searchsorted(self.digests, digests), len(self) - 1)
        return np.where(self.digests[at] == digests, self.labels[at], np.int8(unknown))

    def chosen(self, which: Array) -> LearnedMessages:
        """Choose messages by a mask, or by their places."""
        return LearnedMessages(*(column[which] for column in vars(self).values()))

    def label_index(self, digest: int) -> int:
        wanted = np.uint64(digest)  # numpy before 1.25 would compare with an int as floats, of 53 bits
        at = int(self.digests.searchsorted(wanted))
        if at < len(self.digests) and self.digests[at] == wanted:
            return int(self.labels[at])
        return NOT_LEARNED

    def remaining(self) -> LearnedMessages:
        """Drop messages that are not learned any more."""
        return self.chosen(self.labels != NOT_LEARNED)

    def relabelled(self, new_indices: Sequence[int]) -> LearnedMessages:
        """Give each label, in order, another index."""
        return replace(self, labels=np.array([*new_indices, NOT_LEARNED], np.int8)[self.labels])

    def scored(self, digests: Array, **found: Array) -> LearnedMessages:
        """Replace `scores` or `leads` of some of the messages."""
        places = np.searchsorted(self.digests, digests)
        changed = replace(self, **{name: getattr(self, name).copy() for name in found})
        for name, scores in found.items():
            getattr(changed, name)[places] = scores
        return changed


NOTHING_LEARNED = LearnedMessages.of([], [])


def merge_learned(lists: Sequence[LearnedMessages]) -> LearnedMessages:
    """Merge lists of messages; where a message is in several, the last of them decides."""
    columns = zip(*(vars(each).values() for each in lists), strict=True)
    merged = LearnedMessages(*(np.concatenate(column) for column in columns))
    order = np.argsort(merged.digests, kind="stable")
    digests = merged.digests[order]
    last = np.ones(len(digests), bool)
    last[:-1] = digests[1:] != digests[:-1]
    return merged.chosen(order[last])
