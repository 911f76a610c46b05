"""Counts of a run of training: two tables in memory, and runs in files where these grow too large.

One table has counts to add, the other counts to subtract, for messages that move or are forgotten; both
count upwards. A run is a file without a name that has the entries of a model file.
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

MAX_RUNS = 32  # of a table: more are merged to one


class Counting:
    """Counts of the messages of a run: what was learned and what was taken away."""

    def __init__(self, path: str, labels: Sequence[str], memory: int) -> None:
        self.folder = os.path.dirname(path) or "."
        self.share = memory // 4  # the rest is for the sample, for batches under way, and for the merge
        self.learned, self.taken = CountTable(labels), CountTable(labels)
        self.runs: dict[int, list[Run]] = {1: [], -1: []}  # by the sign of what is in them

    def add(self, rows: MessageRows, steps: Steps, day: int) -> None:
        """Count messages of a batch."""
        if steps.learned:
            label_indices = array("q", [steps.label_index]) * len(steps.learned)
            self.learned.add(rows, steps.learned, label_indices, day)
        if steps.taken:
            self.taken.add(rows, steps.taken, steps.taken_from, day)
        full = self.learned.is_full or self.taken.is_full
        if full or self.learned.size + self.taken.size > self.share:
            self._write_runs()

    @property
    def is_in_memory(self) -> bool:
        return not any(self.runs.values())

    def sources(self) -> list[Source]:
        """Return all counts to be added up; writes the last run, if there are others."""
        if not self.is_in_memory:
            self._write_runs()
        runs = [Source(run, sign) for sign, runs in self.runs.items() for run in runs]
        return [*runs, Source(self.learned), Source(self.taken, -1)]

    def _write_runs(self) -> None:
        self._write_run(self.learned, 1)
        self._write_run(self.taken, -1)

    def _write_run(self, table: CountTable, sign: int) -> None:
        """Write the tokens of a table to a file; its counts of messages and grams stay where they are."""
        if not len(table):
            return
        merged = self.runs[sign] if len(self.runs[sign]) == MAX_RUNS else []
        self.runs[sign] = [*self.runs[sign][len(merged) :], write_run([*merged, table], self.folder)]
        table.clear_entries()
