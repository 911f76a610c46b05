"""Counters of what was done, and their text for Prometheus."""

from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.store.changes import FORGOTTEN, KNOWN, LEARNED, MOVED, UNKNOWN

OTHER = "other"  # a label that is neither ham nor spam
VERDICTS = (SPAM, HAM, UNSURE, OTHER)
PROTOCOL, REFUSED, TIMEOUT, FAILED = ERRORS = ("protocol", "refused", "timeout", "failed")
COUNTED = {  # by metric: its label, the values of that, and what is counted
    "messages": ("verdict", VERDICTS, "Messages judged."),
    "lessons": (
        "outcome",
        (LEARNED, MOVED, KNOWN, FORGOTTEN, UNKNOWN),
        "Messages to learn or forget, and what became of them.",
    ),
    "errors": ("kind", ERRORS, "Requests without an answer to what was asked."),
}


class Counters:
    def __init__(self) -> None:
        self.by_name = {value: 0 for _, values, _ in COUNTED.values() for value in values}
        self.seconds = 0.0  # that all judging took

    def judged(self, label: str, seconds: float) -> None:
        self.count(label if label in VERDICTS else OTHER)
        self.seconds += seconds

    def count(self, name: str) -> None:
        self.by_name[name] += 1

    def text(self) -> str:
        """Counters in the text format of Prometheus."""
        lines = []
        for name, (label, values, what) in COUNTED.items():
            lines += [f"# HELP spamnb_{name}_total {what}", f"# TYPE spamnb_{name}_total counter"]
            lines += [f'spamnb_{name}_total{{{label}="{value}"}} {self.by_name[value]}' for value in values]
        lines += ["# HELP spamnb_judging_seconds_total Time that judging took."]
        lines += ["# TYPE spamnb_judging_seconds_total counter"]
        lines += [f"spamnb_judging_seconds_total {self.seconds:.6f}"]
        return "".join(f"{line}\n" for line in lines)
