"""Counters of what was done, in memory that all workers share, and their text for Prometheus."""

import mmap
import time
from bisect import bisect_left
from collections.abc import Iterator

from spamnb import __version__
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.store.changes import FORGOTTEN, KNOWN, LEARNED, MOVED, UNKNOWN

OTHER = "other"  # a label that is neither ham nor spam
VERDICTS = (SPAM, HAM, UNSURE, OTHER)
OUTCOMES = (LEARNED, MOVED, KNOWN, FORGOTTEN, UNKNOWN)
PROTOCOL, REFUSED, TIMEOUT, FAILED = "protocol", "refused", "timeout", "failed"
ERRORS = (PROTOCOL, REFUSED, TIMEOUT, FAILED)
FALLBACK, REJECTED, RESTARTED = "fallback", "rejected", "restarted"
EVENTS = {
    FALLBACK: "Messages judged by the shared model, as the user's own could not be judged by.",
    REJECTED: "Messages that the milter refused as spam.",
    RESTARTED: "Workers that died and were replaced.",
}
KINDS = ("shared", "user")  # of models
GAUGES = {
    "models": "Models that can be read.",
    "learned_messages": "Messages that they have learned, without what is in journals.",
    "model_changed_seconds": "When one of them last changed or learned, in seconds since 1970.",
    "journal_bytes": "Size of the largest journal.",
}
BUCKET_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)  # seconds


def gauge(name: str, kind: str) -> str:
    return f"{name} {kind}"


# Columns of a worker's row: a counter for each name, the buckets of the histogram, its sum in microseconds.
CELLS = [*VERDICTS, *OUTCOMES, *ERRORS, *EVENTS, *(gauge(name, kind) for name in GAUGES for kind in KINDS)]
COLUMNS = {name: column for column, name in enumerate(CELLS)}
FIRST_BUCKET = len(COLUMNS)
SUM_COLUMN = FIRST_BUCKET + len(BUCKET_BOUNDS) + 1
ROW_WIDTH = SUM_COLUMN + 1
COUNTER_SIZE = 8  # bytes


class Counters:
    """A row of counters for each worker, who alone writes it; any worker can add up all rows."""

    def __init__(self, workers: int) -> None:
        self.cells = memoryview(mmap.mmap(-1, workers * ROW_WIDTH * COUNTER_SIZE)).cast("Q")
        self.since = time.monotonic()
        self.start = 0  # index of the first cell of this worker's row; of the supervisor, that of the first

    def use_row(self, worker: int) -> None:
        self.start = worker * ROW_WIDTH

    def judged(self, label: str, seconds: float) -> None:
        self.count(label if label in VERDICTS else OTHER)
        self.cells[self.start + FIRST_BUCKET + bisect_left(BUCKET_BOUNDS, seconds)] += 1
        self.cells[self.start + SUM_COLUMN] += int(seconds * 1e6)

    def count(self, name: str) -> None:
        self.cells[self.start + COLUMNS[name]] += 1

    def set(self, name: str, value: int) -> None:
        """Set a gauge: only the supervisor does."""
        self.cells[self.start + COLUMNS[name]] = value

    def totals(self) -> list[int]:
        return [sum(self.cells[column::ROW_WIDTH]) for column in range(ROW_WIDTH)]

    def by_name(self) -> dict[str, int]:
        return dict(zip(COLUMNS, self.totals(), strict=False))

    def text(self) -> str:
        """Totals in the text format of Prometheus."""
        return "".join(f"{line}\n" for line in _lines(self.totals()))


def _lines(totals: list[int]) -> Iterator[str]:
    yield "# HELP spamnb_info The version that runs."
    yield "# TYPE spamnb_info gauge"
    yield f'spamnb_info{{version="{__version__}"}} 1'
    for name, label, values, about in (
        ("messages", "verdict", VERDICTS, "Messages judged."),
        ("lessons", "outcome", OUTCOMES, "Messages to learn or forget, and what became of them."),
        ("errors", "kind", ERRORS, "Requests without an answer to what was asked."),
    ):
        yield f"# HELP spamnb_{name}_total {about}"
        yield f"# TYPE spamnb_{name}_total counter"
        for value in values:
            yield f'spamnb_{name}_total{{{label}="{value}"}} {totals[COLUMNS[value]]}'
    for name, about in EVENTS.items():
        yield f"# HELP spamnb_{name}_total {about}"
        yield f"# TYPE spamnb_{name}_total counter"
        yield f"spamnb_{name}_total {totals[COLUMNS[name]]}"
    for name, about in GAUGES.items():
        yield f"# HELP spamnb_{name} {about}"
        yield f"# TYPE spamnb_{name} gauge"
        for kind in KINDS:
            yield f'spamnb_{name}{{kind="{kind}"}} {totals[COLUMNS[gauge(name, kind)]]}'
    yield "# HELP spamnb_judging_seconds Time to judge a message, from reading it to the verdict."
    yield "# TYPE spamnb_judging_seconds histogram"
    so_far = 0
    for bound, in_bucket in zip([*BUCKET_BOUNDS, "+Inf"], totals[FIRST_BUCKET:SUM_COLUMN], strict=True):
        so_far += in_bucket
        yield f'spamnb_judging_seconds_bucket{{le="{bound}"}} {so_far}'
    yield f"spamnb_judging_seconds_sum {totals[SUM_COLUMN] / 1e6}"
    yield f"spamnb_judging_seconds_count {so_far}"
