"""Print verdicts for people: a line per message, as wide as the terminal, and totals at the end."""

from __future__ import annotations

from collections import Counter

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from spamnb.bayes.verdict import Verdict, score_text
from spamnb.cli.render.terminal import console
from spamnb.files import counted, printable
from spamnb.labels import SPAM, UNSURE
from spamnb.mailboxes.sources import message_name

COLOURS = {SPAM: "red", UNSURE: "yellow"}
LABEL, SCORE, SPACE = 8, 8, 2  # columns of the terminal
MIN_COLUMNS = 60  # a narrower terminal shows the subject without sender and path


class VerdictTable:
    """A table with columns of fixed widths, because each row is printed as soon as a message is judged."""

    def __init__(self) -> None:
        self.screen = console()
        self.totals: Counter[str] = Counter()
        left = self.screen.width - LABEL - SCORE - 2 * SPACE
        if self.screen.width < MIN_COLUMNS:
            self.widths = (0, left, 0)
        else:
            sender = path = (left - 2 * SPACE) // 4
            self.widths = (sender, left - 2 * SPACE - sender - path, path)

    def add(self, path: str, index: int | None, verdict: Verdict, sender: str, subject: str) -> None:
        if not self.totals:
            self._print("bold", "verdict", "score", "from", "subject", "path")
        self.totals[verdict.label] += 1
        name = message_name(path, index)
        label, score = verdict.label, score_text(verdict.score)
        self._print(COLOURS.get(label, ""), label, score, sender, subject or "-", name)

    def print_totals(self) -> None:
        counts = [f"{count:,} {label}" for label, count in sorted(self.totals.items())]
        if counts:
            print(f"\n{counted(self.totals.total(), 'message')}: {', '.join(counts)}")

    def _print(self, style: str, label: str, score: str, *texts: str) -> None:
        gap = " " * SPACE
        line = Text(no_wrap=True, overflow="ignore")
        line.append(fitted(label, LABEL), style)
        line.append(f"{score[:SCORE]:>{SCORE}}" + gap)
        cells = [
            fitted(text, width, at_end=text is texts[-1])
            for text, width in zip(texts, self.widths, strict=True)
            if width
        ]
        line.append(gap.join(cells).rstrip())
        self.screen.print(line)


def fitted(text: str, width: int, at_end: bool = False) -> str:
    """Cut or pad a text to a width in columns of the terminal; `at_end`: keep its end, cut off its start."""
    text = printable(text)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    if at_end:
        return "…" + set_cell_size(text[::-1], width - 1)[::-1]
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)
