"""Measure time and memory of programs, and whether the machine was quiet enough for reliable figures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from peers import Command, Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MEGABYTE = 1 << 20
TICK = os.sysconf("SC_CLK_TCK")
SAMPLE_EVERY = 0.005  # seconds
# Of the starts of Python. A virtual machine alone, whose processor flips between two speeds, has 0.55, which
# changes all programs of a race alike. With other work going on, the spread was above 1.
NOISY_SPREAD = 0.75
NOISY_OTHERS = 0.10  # cores that others kept busy
BARE = Command([sys.executable, "-c", "pass"])
# A process inherits the peak of the one that started it, so a small one has to start what is measured.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
sys.stderr.write(f"\\n{time.perf_counter() - start} {used.ru_maxrss} {os.waitstatus_to_exitcode(status)}")
"""


@dataclass(frozen=True)
class Times:
    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def spread(self) -> float | None:
        """The range of the middle half of the runs, as a share of the median."""
        if len(self.seconds) < 3:
            return None
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median


def elapsed(*commands: Command) -> float:
    """Return the seconds that commands take, one after the other."""
    total = 0.0
    for command in commands:
        start = time.perf_counter()
        process = command.start()
        _, errors = process.communicate()
        total += time.perf_counter() - start
        if process.returncode not in command.good_exits:
            raise Failed(f"{command.words[0]} ended with {process.returncode}: {errors[-200:]!r}")
    return total


def race(runners: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, Times]:
    """Time all runners in turn, round by round, so that all meet the same load; discard the first round."""
    rounds = [{name: run() for name, run in runners.items()} for _ in range(repeats + 1)]
    return {name: Times([one[name] for one in rounds[1:]]) for name in runners}


@dataclass(frozen=True)
class Used:
    seconds: float
    peak: float  # megabytes resident; of several processes, each shared page counted once
    exit_code: int | None  # None: stopped for taking too long
    output: bytes = b""
    cpu: float = 0.0  # seconds, of all processes


def alone(command: Command, patience: float = 60) -> Used:
    """Run a single process; return its time, and its peak memory as the kernel reports it."""
    launcher = Command([sys.executable, "-I", "-S", "-c", LAUNCHER, *command.words], command.stdin)
    process = launcher.start(subprocess.PIPE, own_group=True)
    try:
        output, errors = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Used(patience, 0.0, None)
    seconds, peak, code = errors.rsplit(b"\n", 1)[1].split()
    return Used(float(seconds), int(peak) * 1024 / MEGABYTE, int(code), output)


def together(command: Command) -> Used:
    """Run a process and its children; return their peak memory, sampled every few milliseconds."""
    start, busy = time.perf_counter(), cpu_of_children()
    process = command.start()
    peak = 0.0
    done = threading.Event()

    def look() -> None:
        nonlocal peak
        pause = SAMPLE_EVERY
        while not done.wait(pause):
            began = time.perf_counter()
            peak = max(peak, sum(map(proportional, descendants(process.pid))) / MEGABYTE)
            pause = max(SAMPLE_EVERY, 10 * (time.perf_counter() - began))  # looking holds them up

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        process.communicate()
    finally:
        done.set()
        watcher.join()
    seconds = time.perf_counter() - start
    cpu = cpu_of_children() - busy
    return Used(seconds, peak, process.returncode, cpu=cpu)


def cpu_of_children() -> float:
    """Return the CPU time of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def descendants(pid: int) -> Iterator[int]:
    yield pid
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in contents(f"/proc/{pid}/task/{thread}/children").split():
                yield from descendants(int(child))
    except OSError:
        return  # ended meanwhile


def proportional(pid: int) -> int:
    lines = contents(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def contents(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


class Weather:
    """How quiet the machine was: how long Python took to start, and how many cores other processes used."""

    def __init__(self) -> None:
        self.starts: list[float] = []
        self.since = time.monotonic()
        self.busy, self.own = busy_seconds(), own_seconds()

    def look(self, times: int = 10) -> None:
        elapsed(BARE)  # the first after other work is slower
        self.starts += [elapsed(BARE) for _ in range(times)]

    @property
    def spread(self) -> float:
        """The difference between fastest and slowest tenth of the starts, as a share of the median."""
        tenths = quantiles(self.starts, n=10)
        return (tenths[-1] - tenths[0]) / median(self.starts)

    @property
    def others(self) -> float:
        """The mean number of cores that other processes used."""
        used = busy_seconds() - self.busy - (own_seconds() - self.own)
        return max(0.0, used / (time.monotonic() - self.since))

    @property
    def noisy(self) -> bool:
        return self.spread > NOISY_SPREAD or self.others > NOISY_OTHERS

    def lines(self) -> list[str]:
        found = [
            f"python -c pass: {1000 * median(self.starts):.1f} ms, spread {100 * self.spread:.0f} % over "
            f"{len(self.starts)} starts; others kept {self.others:.2f} of {os.cpu_count()} cores busy"
        ]
        if self.noisy:
            found.append("WARNING: the machine was too noisy; the figures of this run are not reliable.")
        return found


def busy_seconds() -> float:
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, contents("/proc/stat").split()[1:9])
    return (user + nice + system + irq + soft + steal) / TICK


def own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
