"""`make pictures`: draw the pictures of README that are not screenshots: a terminal, and a chart of filters.

The terminal shows what a command really printed; the chart has the figures on record (bench/records/).
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
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

TITLE = "How accurate spamnb and other filters are, how fast, and what they need"
PANELS = (  # of the chart: a heading, the column, and whether more is better
    ("Pairs of ham and spam in the wrong order, %", "(1-AUC)%", False),
    ("Messages learned per second", "train msg/s", True),
    ("Memory for training, MB", "training MB", False),
    ("Size of what was learned, MB", "learned MB", False),
)
BAR, GAP, NAMES, WIDTH = 16, 6, 160, 490  # of a panel


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
    """Draw four panels, each with one bar per filter on a logarithmic scale, the best first."""
    (table,) = (found for title, found in recorded("peers").items() if title == "spamassassin")
    columns, rows = table["columns"], table["rows"]
    height = len(rows) * (BAR + GAP) + 50
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{TITLE}</title>",
        "<style>text{fill:#1d2226}.ours{fill:#0a66a8}.other{fill:#b9b4aa}"
        "@media(prefers-color-scheme:dark){text{fill:#e6e3dd}.ours{fill:#62b4ee}.other{fill:#6d757b}}</style>",
    ]
    for number, (heading, column, more_is_better) in enumerate(PANELS):
        values = {row[0]: float(row[columns.index(column)].replace(",", "")) for row in rows}
        place = f"{number % 2 * WIDTH},{number // 2 * height}"
        drawn += [f'<g transform="translate({place})">', *bars(heading, values, more_is_better), "</g>"]
    path.write_text("\n".join([*drawn, "</svg>"]) + "\n")


def bars(heading: str, values: dict[str, float], more_is_better: bool) -> Iterator[str]:
    yield f'<text x="0" y="18" font-weight="bold">{escape(heading)}; logarithmic</text>'
    low = min(values.values()) / 2
    span = log10(max(values.values()) / low)
    order = sorted(values.items(), key=lambda each: each[1], reverse=more_is_better)
    for place, (name, value) in enumerate(order):
        y = 30 + place * (BAR + GAP)
        length = (WIDTH - NAMES - 70) * log10(value / low) / span
        kind = "ours" if name == "spamnb" else "other"
        shown = f"{value:,.0f}" if value >= 10 else f"{value:.3g}"
        yield f'<text x="{NAMES - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
        yield f'<rect class="{kind}" x="{NAMES}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>'
        yield f'<text x="{NAMES + length + 6:.1f}" y="{y + 13}">{shown}</text>'


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    chart(PICTURES / "peers.svg")
    if "chart" not in sys.argv:
        program, model = Path(sys.executable).with_name("spamnb"), ROOT / ".demo" / "model.msgpack"
        command = [str(program), "inspect", "--model", str(model), "-"]
        terminal(PICTURES / "inspect.svg", "spamnb inspect message", command, 32)
