"""The messages that a model learned: their digests, their labels, and how each was judged without itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from struct import pack
from zlib import crc32

import numpy as np

from spamnb.arrays import Array
from spamnb.store.journal import JournalRecord
from spamnb.store.stored_model import LEARNED_BLOCK, StoredModel

NOT_LEARNED = -1  # in place of a label index
RECORD = np.dtype([("digest", "<u8"), ("label", "u1"), ("score", "<f4"), ("lead", "<f4")])
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
    def load(cls, stored: StoredModel) -> LearnedMessages:
        """Load the messages of a model file and its journal."""
        column = stored.columns["learned"]
        stored.columns["learned_index"].verify()
        records = np.frombuffer(column.read(), RECORD)
        digests, labels = records["digest"].copy(), records["label"].astype(np.int8)
        if not (digests[:-1] < digests[1:]).all() or records["label"].max(initial=0) >= len(stored.labels):
            raise column.damaged()
        in_file = cls(digests, labels, records["score"].copy(), records["lead"].copy())
        if not stored.journal.records:
            return in_file
        return merge_learned([in_file, cls.of_records(stored.journal.records, stored.labels)]).remaining()

    @classmethod
    def of_records(cls, records: Sequence[JournalRecord], labels: Sequence[str]) -> LearnedMessages:
        """Make a list of the messages of journal records; of several about one message, the last counts."""
        indices = [NOT_LEARNED if record.after is None else labels.index(record.after) for record in records]
        scores, leads = [record.score for record in records], [record.lead for record in records]
        return cls.of([record.digest for record in records], indices, scores, leads)

    def columns(self) -> dict[str, bytes]:
        """Pack the messages as the columns "learned" and "learned_index" of a model file."""
        records = np.empty(len(self), RECORD)
        for name, column in zip(records.dtype.names or (), vars(self).values(), strict=True):
            records[name] = column
        blocks = [records[at : at + LEARNED_BLOCK] for at in range(0, len(self), LEARNED_BLOCK)]
        index = [pack("<QI", block["digest"][0], crc32(block.tobytes())) for block in blocks]
        return {"learned": records.tobytes(), "learned_index": b"".join(index)}

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
