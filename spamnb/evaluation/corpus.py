"""Labelled mail that is read and counted once, and can be split into training and test mail in any way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spamnb.arrays import Array
from spamnb.core.native import CountTable, MessageRows
from spamnb.errors import DataError
from spamnb.mailboxes.skipped import Unreadable
from spamnb.training.batches import Batch

NO_DAY = 0  # an evaluation never asks when a token was seen
LESS = "evaluate fewer messages"


@dataclass(frozen=True, eq=False)
class Corpus:
    """Labelled messages, facts about each message, and a table with the counts of all messages."""

    labels: tuple[str, ...]
    truth: Array  # index of each message's label
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    hashes: Array
    rows: MessageRows
    table: CountTable
    unreadable: list[Unreadable]

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        batches: Iterable[Batch],
        *,
        is_counted: bool = True,
    ) -> Corpus:
        """Make a corpus of the messages of all batches, and add the messages to its table of counts.

        With `is_counted` False, the table stays empty, so that messages can be added to it one by one later.
        """
        table = CountTable(labels, has_texts=False)
        truth: list[Array] = []
        names: list[tuple[str, int | None]] = []
        rows = MessageRows()
        unreadable: list[Unreadable] = []
        for batch in batches:
            truth.append(np.full(len(batch), labels.index(batch.label or ""), np.int64))
            names += batch.names
            unreadable += batch.unreadable
            if is_counted:
                batch.rows.keeps_places = True
                table.add(batch.rows, np.arange(len(batch)), truth[-1], NO_DAY)
            try:
                rows.extend(batch.rows)
            except OverflowError as error:
                raise DataError(f"this mail has more than 2,147,483,647 words; {LESS}") from error
            if table.is_full:
                raise DataError(f"a word occurs more than 1,073,741,824 times in this mail; {LESS}")
            del batch  # so that its memory can be used for the next one
        hashes = np.frombuffer(rows.hashes, np.uint64)
        return cls(tuple(labels), np.concatenate(truth), names, hashes, rows, table, unreadable)

    def __len__(self) -> int:
        return len(self.names)

    def change(self, table: CountTable, messages: Array, sign: int) -> None:
        """Add messages (indices) to `table`, a copy of the corpus's, or subtract them from it (`sign` -1)."""
        table.add(self.rows, messages, self.truth[messages], NO_DAY, sign)
