"""Deciding what training does with each message: learn, move to another label, forget, nothing or refuse."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array, run_starts, sorted_distinct
from spamnb.errors import UsageError
from spamnb.mailboxes.skipped import PassedOver, Unreadable, failures, passed_over
from spamnb.mailboxes.sources import message_name
from spamnb.store.changes import CONFLICTING, DUPLICATE, outcome
from spamnb.store.learned import NOT_LEARNED, NOTHING_LEARNED, LearnedMessages, merge_learned
from spamnb.training.batches import Batch

FEWEST_MOVED = 10  # messages; a label with fewer gives no cutoffs, and everything is unsure anyway
MAX_CONFLICTS = 10  # examples that are named
NEARLY_ALL = 0.9  # the rest are mistakes that were corrected meanwhile, or copies in several folders


def refuse_swapped_labels(labels: Sequence[str], moves: Array, learned: Array) -> None:
    """Refuse a run that takes away most of a label.

    `moves[before, after]` counts known messages of this run by the label they were learned under and the one
    they are given now; `learned` is how many messages the model knows of each label. Corrections move few,
    or come with others that stay: so a run is refused if it moves nearly all messages of a label that it
    brings, and over half of those that the model knows.
    """
    swaps = []
    for before, label in enumerate(labels):
        others = moves[before].copy()
        others[before] = 0
        moved = int(others.sum())
        if moved >= max(FEWEST_MOVED, NEARLY_ALL * moves[before].sum()) and moved > learned[before] / 2:
            swaps.append(
                f"{moved:,} of {learned[before]:,} messages learned as {label} to {labels[others.argmax()]}"
            )
    if swaps:
        raise UsageError(
            f"this would move {' and '.join(swaps)}: swapped? Nothing was changed; if you mean it, forget "
            "them first: spamnb forget PATH..."
        )


NOT_MET = NOT_LEARNED - 1  # in place of a label index: the message was not met in this run


class Steps(NamedTuple):
    """What to count of a batch: messages to learn under a label, and messages to take from other labels."""

    label_index: int  # NOT_LEARNED where nothing is learned
    learned: Array  # numbers of messages in the batch
    taken: Array
    taken_from: Array  # label indices


@dataclass
class Summary:
    """Counts of what became of the messages."""

    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)  # per label: learned, known, moved …
    unreadable: list[Unreadable] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)  # not read on purpose
    new_labels: list[str] = field(default_factory=list)  # which a model with mail did not have before
    conflicts: list[str] = field(default_factory=list)  # names of some messages left out as "conflicting"
    # Label before and now, None for none, and the digests of messages, each of 8 bytes.
    lessons: list[tuple[str | None, str | None, bytes]] = field(default_factory=list)

    def count(self, label: str, what: str, number: int = 1) -> None:
        if number:
            counts = self.outcomes.setdefault(label, {})
            counts[what] = counts.get(what, 0) + number

    def note(self, batch: Batch, outcomes: Sequence[str]) -> None:
        """Count what became of a batch; the first messages that are under another label, too, are named."""
        for result, number in Counter(outcomes).items():
            self.count(batch.label or "", result, number)
        self.unreadable += failures(batch.unreadable)
        self.passed_over += passed_over(batch.unreadable)
        if CONFLICTING in outcomes and len(self.conflicts) < MAX_CONFLICTS:
            names = zip(batch.names, outcomes, strict=True)
            self.conflicts += [message_name(*name) for name, result in names if result == CONFLICTING]
            del self.conflicts[MAX_CONFLICTS:]

    def total(self, *what: str) -> int:
        return sum(counts.get(name, 0) for counts in self.outcomes.values() for name in what)


class KnownMessages:
    """Messages that the model knows, and their labels, before and during a run of training."""

    def __init__(self, before: LearnedMessages, labels: Sequence[str]) -> None:
        self.labels = labels
        self.before = before
        self.met: list[LearnedMessages] = []  # in this run; each list is longer than the next
        self.changed = False
        self.message_counts = np.bincount(before.labels, minlength=len(labels))
        self.moves = np.zeros((len(labels), len(labels)), np.int64)  # [label before, label now]

    def steps(self, batch: Batch, forget: bool, summary: Summary) -> Steps:
        """Decide what to count of a batch: of several copies the first that is met, unless it is known."""
        target = NOT_LEARNED if forget else self.labels.index(batch.label or "")
        all_digests = np.frombuffer(batch.rows.digests, np.uint64)
        order = np.argsort(all_digests, kind="stable")
        distinct = np.flatnonzero(run_starts(all_digests[order]))
        first = order[distinct]
        digests = all_digests[first]
        in_this_run = self._labels_in_run(digests)
        new = in_this_run == NOT_MET
        of_copies = np.where(new | (in_this_run == target), DUPLICATE, CONFLICTING).astype(object)
        outcomes = np.empty(len(order), object)
        outcomes[order] = np.repeat(of_copies, np.diff(distinct, append=len(order)))
        digests, messages = digests[new], first[new]
        before = self.before.label_indices(digests)
        if target != NOT_LEARNED:
            self.moves[:, target] += np.bincount(before[before != NOT_LEARNED], minlength=len(self.labels))
        for label_index in sorted_distinct(before).tolist():
            names = self._name(label_index), self._name(target)
            chosen = before == label_index
            outcomes[messages[chosen]] = outcome(*names)
            if label_index != target:
                summary.lessons.append((*names, digests[chosen].astype("<u8").tobytes()))
        summary.note(batch, outcomes.tolist())
        self._remember(LearnedMessages.of(digests, np.full(len(digests), target)))
        changed = before != target
        self.changed |= bool(changed.any())
        taken = changed & (before != NOT_LEARNED)
        learned = np.sort(messages[changed]) if target != NOT_LEARNED else messages[:0]
        return Steps(target, learned, messages[taken], before[taken].astype(np.int64))

    def _labels_in_run(self, digests: Array) -> Array:
        """Look up the label indices that messages were given in this run."""
        found = np.full(len(digests), NOT_MET, np.int8)
        for messages in self.met:
            found = np.maximum(found, messages.label_indices(digests, NOT_MET))
        return found

    def _remember(self, messages: LearnedMessages) -> None:
        while self.met and len(self.met[-1]) <= len(messages):
            messages = merge_learned([self.met.pop(), messages])
        self.met.append(messages)

    def _name(self, label_index: int) -> str | None:
        return None if label_index == NOT_LEARNED else self.labels[label_index]

    def learned(self) -> LearnedMessages:
        """List all messages the model knows from now on; where the label did not change, the score stays."""
        met = merge_learned([NOTHING_LEARNED, *self.met])
        changed = met.chosen(met.labels != self.before.label_indices(met.digests))
        return merge_learned([self.before, changed]).remaining()
