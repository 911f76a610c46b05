"""Lines of a table of figures: what was measured, what it is compared with, and whether its goal is met."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clock import contents

if TYPE_CHECKING:
    from clock import Times

COLUMNS = ("what", "spamnb", "beside", "ratio", "wanted", "reached")


@dataclass
class Row:
    """A line of the table of figures; `at_least` or `at_most` is the goal for `ratio`, if there is one."""

    what: str
    ours: str
    beside: str = ""
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "×"
    digits: int = 2

    @property
    def reached(self) -> bool | None:
        if self.ratio is None or (self.at_least is None and self.at_most is None):
            return None
        return (self.at_least or self.ratio) <= self.ratio <= (self.at_most or self.ratio)

    def cells(self) -> list[str]:
        wanted = f"≥ {self.at_least:g}" if self.at_least else f"≤ {self.at_most:g}" if self.at_most else ""
        return [
            self.what,
            self.ours,
            self.beside,
            "" if self.ratio is None else f"{self.ratio:.{self.digits}f} {self.unit}".strip(),
            f"{wanted} {self.unit}" if wanted else "",
            {True: "yes", False: "NO", None: ""}[self.reached],
        ]


def seconds(times: Times) -> str:
    return f"{times.median:.2f} s{spread(times)}"


def milliseconds(times: Times) -> str:
    return f"{1000 * times.median:.1f} ms{spread(times)}"


def spread(times: Times) -> str:
    return "" if times.spread is None else f" ±{50 * times.spread:.0f} %"


def rate(messages: int, times: Times) -> str:
    return f"{messages / times.median:,.0f} msg/s{spread(times)}"


def machine() -> str:
    lines = contents("/proc/cpuinfo").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(names, platform.machine())
    system = f"{platform.system()} {platform.release()}"
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, {system}"
