"""Counts of one training: two tables in memory, and temporary files (runs) where the tables grow too large.

One table has counts to add, the other counts to subtract, for messages that move or are forgotten; the
numbers in both are positive. A run is a file without a name, with entries as in a model file.
"""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING

from spamnb.core.native import CountTable
from spamnb.store.merging import Source, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.core.native import MessageRows
    from spamnb.store.merging import Run
    from spamnb.training.known_messages import Steps

MAX_RUNS = 32  # of each table; if there would be more, all are merged into one
SORTING = 16  # bytes that writing a run takes for each entry, beside the table


class Counting:
    """The counts that one training adds to a model and subtracts from it."""

    def __init__(self, path: str, labels: Sequence[str], memory: int) -> None:
        self.folder = os.path.dirname(path) or "."
        self.share = memory // 4  # the rest is for the sample, for batches under way, and for the merge
        self.learned, self.taken = CountTable(labels), CountTable(labels)
        self.runs: dict[int, list[Run]] = {1: [], -1: []}  # 1: counts to add, -1: counts to subtract

    def add(self, rows: MessageRows, steps: Steps, day: int) -> None:
        """Add messages to learn to the table `learned`, and messages to subtract to the table `taken`."""
        if steps.learned:
            label_indices = array("q", [steps.label_index]) * len(steps.learned)
            self.learned.add(rows, steps.learned, label_indices, day)
        if steps.taken:
            self.taken.add(rows, steps.taken, steps.taken_from, day)
        full = self.learned.is_full or self.taken.is_full
        entries = len(self.learned) + len(self.taken)
        if full or self.learned.size + self.taken.size + SORTING * entries > self.share:
            self._write_runs()

    @property
    def is_in_memory(self) -> bool:
        return not any(self.runs.values())

    def sources(self) -> list[Source]:
        """Return all tables and runs (files) to add up; if there are runs, write the tables to runs first."""
        if not self.is_in_memory:
            self._write_runs()
        runs = [Source(run, sign) for sign, runs in self.runs.items() for run in runs]
        return [*runs, Source(self.learned), Source(self.taken, -1)]

    def _write_runs(self) -> None:
        self._write_run(self.learned, 1)
        self._write_run(self.taken, -1)

    def _write_run(self, table: CountTable, sign: int) -> None:
        """Move a table's tokens and pairs to a run, a file with this sign; other counts stay in memory."""
        if not len(table):
            return
        merged = self.runs[sign] if len(self.runs[sign]) == MAX_RUNS else []
        self.runs[sign] = [*self.runs[sign][len(merged) :], write_run([*merged, table], self.folder)]
        table.clear_entries()
