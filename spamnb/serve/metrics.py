"""Counters of the server and figures of the shared model, as text for Prometheus."""

import os
import time
from bisect import bisect_left
from collections.abc import Iterator

from spamnb import __version__
from spamnb.errors import SpamnbError
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.store.changes import FORGOTTEN, KNOWN, LEARNED, MOVED, UNKNOWN
from spamnb.store.model_file import read_head
from spamnb.store.stored_model import open_file

OTHER = "other"  # a label that is neither ham nor spam
VERDICTS = (SPAM, HAM, UNSURE, OTHER)
OUTCOMES = (LEARNED, MOVED, KNOWN, FORGOTTEN, UNKNOWN)
PROTOCOL, REFUSED, TIMEOUT, FAILED = "protocol", "refused", "timeout", "failed"
ERRORS = (PROTOCOL, REFUSED, TIMEOUT, FAILED)
FALLBACK, REJECTED = "fallback", "rejected"
EVENTS = {
    FALLBACK: "Messages judged with the shared model because the user's own was unusable.",
    REJECTED: "Messages that the milter refused as spam.",
}
GAUGES = {
    "models": "1 if the shared model can be read, else 0.",
    "learned_messages": "Messages that the shared model has learned, without its journal.",
    "model_changed_seconds": "When the shared model last changed or learned, in seconds since 1970.",
    "journal_bytes": "Size of the shared model's journal.",
}
BUCKET_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)  # seconds


class Counters:
    def __init__(self) -> None:
        self.since = time.monotonic()
        self.by_name = dict.fromkeys((*VERDICTS, *OUTCOMES, *ERRORS, *EVENTS), 0)
        self.buckets = [0] * (len(BUCKET_BOUNDS) + 1)
        self.seconds = 0.0  # total time of judging

    def judged(self, label: str, seconds: float) -> None:
        self.count(label if label in VERDICTS else OTHER)
        self.buckets[bisect_left(BUCKET_BOUNDS, seconds)] += 1
        self.seconds += seconds

    def count(self, name: str) -> None:
        self.by_name[name] += 1

    def text(self, model: str) -> str:
        """Return the counters, and what GAUGES lists for the model file `model`, as text for Prometheus."""
        return "".join(f"{line}\n" for line in self._lines(model))

    def _lines(self, model: str) -> Iterator[str]:
        yield from about("info", "gauge", "The version that runs.")
        yield f'spamnb_info{{version="{__version__}"}} 1'
        for name, label, values, what in (
            ("messages", "verdict", VERDICTS, "Messages judged."),
            ("lessons", "outcome", OUTCOMES, "Messages to learn or forget, by outcome."),
            ("errors", "kind", ERRORS, "Requests answered with an error."),
        ):
            yield from about(f"{name}_total", "counter", what)
            for value in values:
                yield f'spamnb_{name}_total{{{label}="{value}"}} {self.by_name[value]}'
        for name, what in EVENTS.items():
            yield from about(f"{name}_total", "counter", what)
            yield f"spamnb_{name}_total {self.by_name[name]}"
        for (name, what), figure in zip(GAUGES.items(), figures(model), strict=True):
            yield from about(name, "gauge", what)
            yield f"spamnb_{name} {figure}"
        yield from about(
            "judging_seconds", "histogram", "Time to judge a message, from reading it to the verdict."
        )
        so_far = 0
        for bound, in_bucket in zip([*BUCKET_BOUNDS, "+Inf"], self.buckets, strict=True):
            so_far += in_bucket
            yield f'spamnb_judging_seconds_bucket{{le="{bound}"}} {so_far}'
        yield f"spamnb_judging_seconds_sum {self.seconds:.6f}"
        yield f"spamnb_judging_seconds_count {so_far}"


def about(name: str, kind: str, what: str) -> tuple[str, str]:
    return f"# HELP spamnb_{name} {what}", f"# TYPE spamnb_{name} {kind}"


def figures(model: str) -> tuple[int, int, int, int]:
    """Return the four numbers that GAUGES lists, of a model and its journal; all 0 if it is unreadable."""
    try:
        messages = sum(read_head(open_file(model))[0]["messages"])
        changed = int(os.stat(model).st_mtime)
    except (SpamnbError, OSError, KeyError, TypeError):
        return 0, 0, 0, 0  # missing, damaged or not permitted
    try:
        journal = os.stat(f"{model}.journal")
    except OSError:
        return 1, messages, changed, 0
    return 1, messages, max(changed, int(journal.st_mtime)), journal.st_size
