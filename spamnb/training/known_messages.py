"""What training does with each message: learn it, move it to another label, forget it, or skip it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from spamnb.core.native import CONFLICTING_COPY, DUPLICATE_COPY, NOT_LEARNED
from spamnb.errors import UsageError
from spamnb.mailboxes.skipped import SkippedMail, Unreadable, failures, skipped_mail
from spamnb.mailboxes.sources import message_name
from spamnb.store.changes import CONFLICTING, DUPLICATE, outcome

if TYPE_CHECKING:
    from spamnb.core.native import LearnedMessages
    from spamnb.training.batches import Batch

MIN_MOVED = 10  # messages; fewer may always move
MAX_CONFLICTS = 10  # examples listed
NEARLY_ALL = 0.9  # the rest are mistakes that were corrected meanwhile, or copies in several folders


def refuse_swapped_labels(
    labels: Sequence[str], moves: Sequence[Sequence[int]], learned: Sequence[int]
) -> None:
    """Raise UsageError if a training would move most messages of a label to another label.

    `moves[before][after]` is how many of the given messages were learned as `before` and now get the label
    `after`; `learned` is how many messages of each label the model had. Corrections move few messages, or
    come with many that keep their label. So a training is refused if it moves nearly all given messages of a
    label, and over half of the messages that the model had learned under that label.
    """
    swaps = []
    for before, label in enumerate(labels):
        others = [count if after != before else 0 for after, count in enumerate(moves[before])]
        moved = sum(others)
        if moved >= max(MIN_MOVED, NEARLY_ALL * sum(moves[before])) and moved > learned[before] / 2:
            to = labels[others.index(max(others))]
            swaps.append(f"{moved:,} of {learned[before]:,} messages learned as {label} would become {to}")
    if swaps:
        raise UsageError(
            f"the paths of ham and spam seem to be swapped: {' and '.join(swaps)}. Nothing was changed. "
            "If the labels are right, first run `spamnb forget PATH...` on this mail."
        )


class Steps(NamedTuple):
    """The messages of a batch to add to the counts of one label, and those to subtract from other labels."""

    label_index: int  # of the label to learn; NOT_LEARNED if messages are forgotten
    learned: array[int]  # numbers of messages in the batch
    taken: array[int]
    taken_from: array[int]  # label indices


@dataclass
class Summary:
    """What a training did: for each label how many messages were learned, moved and so on."""

    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)  # per label: learned, known, moved …
    unreadable: list[Unreadable] = field(default_factory=list)
    skipped: list[SkippedMail] = field(default_factory=list)  # not read on purpose
    new_labels: list[str] = field(default_factory=list)  # which a model with mail did not have before
    conflicts: list[str] = field(default_factory=list)  # names of some messages under two labels
    # Label before and after (None: not learned), and the hashes of the messages, 8 bytes each.
    lessons: list[tuple[str | None, str | None, bytes]] = field(default_factory=list, repr=False)

    def count(self, label: str, what: str, number: int = 1) -> None:
        if number:
            counts = self.outcomes.setdefault(label, {})
            counts[what] = counts.get(what, 0) + number

    def note(self, batch: Batch, conflicting: Sequence[int]) -> None:
        """Add a batch's reports of unread files, and names of `conflicting` messages (with two labels)."""
        self.unreadable += failures(batch.unreadable)
        self.skipped += skipped_mail(batch.unreadable)
        left = MAX_CONFLICTS - len(self.conflicts)
        self.conflicts += [message_name(*batch.names[n]) for n in conflicting[:left]]

    def total(self, *what: str) -> int:
        return sum(counts.get(name, 0) for counts in self.outcomes.values() for name in what)


class KnownMessages:
    """The messages that a model has learned, with their labels, before and during a training."""

    def __init__(self, learned: LearnedMessages, labels: Sequence[str]) -> None:
        self.labels = labels
        self.learned = learned
        self.changed = False
        self.message_counts = learned.message_counts(len(labels))
        self.moves = [[0] * len(labels) for _ in labels]  # [label before][label now]

    def steps(self, batch: Batch, forget: bool, summary: Summary) -> Steps:
        """Decide what to do with each message of a batch, and count this in `summary`; skip copies."""
        target = NOT_LEARNED if forget else self.labels.index(batch.label or "")
        hashes = memoryview(batch.rows.hashes).cast("Q")
        before = memoryview(self.learned.learn(hashes, target)).cast("b").tolist()
        learned, taken, taken_from = array("q"), array("q"), array("q")
        for code, count in Counter(before).items():
            summary.count(batch.label or "", self._outcome(code, target), count)
            if code >= 0 and target != NOT_LEARNED:
                self.moves[code][target] += count
            if code < NOT_LEARNED or code == target:
                continue
            self.changed = True
            messages = array("q", [n for n, found in enumerate(before) if found == code])
            moved = b"".join([hashes[n].to_bytes(8, "little") for n in messages])
            summary.lessons.append((self._name(code), self._name(target), moved))
            learned += messages if target != NOT_LEARNED else array("q")
            if code != NOT_LEARNED:
                taken += messages
                taken_from += array("q", [code]) * count
        summary.note(batch, [n for n, found in enumerate(before) if found == CONFLICTING_COPY])
        return Steps(target, array("q", sorted(learned)), taken, taken_from)

    def _outcome(self, before: int, target: int) -> str:
        copies = {DUPLICATE_COPY: DUPLICATE, CONFLICTING_COPY: CONFLICTING}
        return copies.get(before) or outcome(self._name(before), self._name(target))

    def _name(self, label_index: int) -> str | None:
        return None if label_index == NOT_LEARNED else self.labels[label_index]
