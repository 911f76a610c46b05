"""`make pictures`: the two pictures of README that are drawn, a terminal and the chart of all filters.

The terminal shows what a command really printed; the chart has the figures on record (bench/records/).
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from html import escape
from io import StringIO
from math import log10
from pathlib import Path

from figures import ROOT, recorded
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURES = ROOT / "docs" / "pictures"
MESSAGE = (
    b"Subject: make money fast\n\nClick here to order now, risk free! Earn thousands of dollars a month.\n"
)
COLUMNS = 100
FONTS = "@font-face"  # rich's own template loads two from another host: they are left out

# Of the chart: the heading, the table and column of the figures, and whether less is better.
TABLE = "spamassassin, half"
TRAINED = 3023  # messages, half of the corpus
BAR, GAP, NAMES, WIDTH = 18, 8, 150, 760


def terminal(path: Path, title: str, command: list[str], lines: int) -> None:
    """Run a command on a terminal, and draw the first lines of what it printed."""
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
        "LANG": "C.UTF-8",
    }
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, env=environment) as running:
        os.close(theirs)
        assert running.stdin
        running.stdin.write(MESSAGE)
        running.stdin.close()
        printed = b""
        while piece := read(ours):
            printed += piece
    os.close(ours)
    if running.returncode:
        sys.exit(f"{title}: exit code {running.returncode}")
    shown = "\n".join(printed.decode().replace("\r\n", "\n").splitlines()[:lines])
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text.from_ansi(f"$ {title}\n{shown}"))
    start, end = CONSOLE_SVG_FORMAT.index(FONTS), CONSOLE_SVG_FORMAT.index(".{unique_id}-matrix")
    template = CONSOLE_SVG_FORMAT[:start] + CONSOLE_SVG_FORMAT[end:]
    path.write_text(console.export_svg(title="", theme=MONOKAI, code_format=template, unique_id="terminal"))


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end of a terminal was closed
        return b""


def chart(path: Path) -> None:
    """Draw how every filter ranks mail, and how fast it learns."""
    table = recorded("accuracy-peers")[TABLE]
    columns, rows = table["columns"], table["rows"]
    wrong = {row[0]: float(row[columns.index("(1-AUC)%")]) for row in rows}
    speed = {row[0]: TRAINED / float(row[columns.index("train s")]) for row in rows}
    height = 2 * (len(rows) * (BAR + GAP) + 60)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>How spamnb and other filters rank mail, and how fast they learn</title>",
        "<style>text{fill:#1d2226}.ours{fill:#0a66a8}.other{fill:#b9b4aa}"
        "@media(prefers-color-scheme:dark){text{fill:#e6e3dd}.ours{fill:#62b4ee}.other{fill:#6d757b}}</style>",
        *bars("Pairs of ham and spam ranked the wrong way round, % (shorter is better)", 0, wrong, False),
        *bars("Messages learned per second (longer is better)", height // 2, speed, True),
        "</svg>",
    ]
    path.write_text("\n".join(drawn) + "\n")


def bars(heading: str, top: int, values: dict[str, float], more_is_better: bool) -> list[str]:
    """Draw one bar per filter on a logarithmic scale, the best first."""
    low = min(values.values()) / 2
    span = log10(max(values.values()) / low)
    drawn = [f'<text x="0" y="{top + 18}" font-weight="bold">{escape(heading)}</text>']
    for place, (name, value) in enumerate(
        sorted(values.items(), key=lambda each: each[1], reverse=more_is_better)
    ):
        y = top + 34 + place * (BAR + GAP)
        length = (WIDTH - NAMES - 70) * log10(value / low) / span
        kind = "ours" if name == "spamnb" else "other"
        shown = f"{value:,.0f}" if value >= 10 else f"{value:.3f}"
        drawn += [
            f'<text x="{NAMES - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{NAMES}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
            f'<text x="{NAMES + length + 6:.1f}" y="{y + 14}">{shown}</text>',
        ]
    return drawn


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    program = str(Path(sys.executable).with_name("spamnb"))
    model = str(ROOT / ".demo" / "model.msgpack")
    terminal(
        PICTURES / "inspect.svg", "spamnb inspect message", [program, "inspect", "--model", model, "-"], 32
    )
    chart(PICTURES / "peers.svg")
