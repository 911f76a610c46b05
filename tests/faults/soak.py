"""`make soak`: kills, crowds, failing disks, hostile clients and new examples in great number.

Whatever goes wrong is reported, and makes this fail; all else goes on.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from faults import crowds, disks, failures, kills
from faults.operations import LESSONS, READING, WRITING, Operation
from faults.worlds import World
from helpers.load import MEGABYTE, Load, asks
from helpers.paths import TESTS
from helpers.program import Spamnb
from helpers.samples import ENOUGH, ham, spam
from helpers.serving import Serving

CROWD = 64  # that learn, and as many that judge
MANY = 25  # calls of a kind that are each killed or made to fail; of more, as many from the first to the last
PAGES = 4096 * 8
LATE = 3  # times as long as among clients that only ask: one client in a hundred waits longer
MAX_GROWN = 10  # megabytes, of both servers together
# Tests with a longer form: every bit of a model and its journal, a thousand messages by each mail program.
LONGER = [str(path) for path in TESTS.rglob("test_*.py") if "from helpers.tiers import" in path.read_text()]


class Soak:
    """What was found; and when it is time to stop."""

    def __init__(self, world: World, options: argparse.Namespace) -> None:
        self.world = world
        self.options = options
        self.chance = Random(options.seed)
        self.deadline = time.monotonic() + 60 * options.minutes
        self.wrong = 0

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.deadline

    def tried(self, what: str, attack: Callable[..., Any], *arguments: Any) -> Any:
        """What an attack returns; None if the model did not withstand it, or there is no time left."""
        if not self.goes_on:
            return None
        try:
            return attack(*arguments)
        except Exception:
            self.wrong += 1
            print(f"\n{what}:", file=sys.stderr)
            traceback.print_exc()
            return None

    def kill(self) -> None:
        """At random, and before each call that changes the disk."""
        header("kill -9", ("at random", "after the end", "before a call"))
        each = -(-self.options.kills // len(WRITING))
        total: Counter[str] = Counter()
        for name, operation in WRITING.items():
            found: Counter[str] = Counter()
            for _ in range(10 * each):
                if found["struck"] >= each:
                    break
                lessons = LESSONS if self.chance.random() < 0.5 else []
                hit = self.tried(name, kills.at_random, self.world, operation, self.chance, lessons)
                found["struck"] += hit is True
                found["late"] += hit is False
            for call in kills.CHANGING:
                hits = self.tried(f"{name}: {call}", kills.at_each_call, self.world, operation, call, MANY)
                found["calls"] += hits or 0
            row(name, tuple(found[what] for what in ("struck", "late", "calls")))
            total += found
        row("all", tuple(total[what] for what in ("struck", "late", "calls")))

    def crowd(self) -> None:
        header("128 processes", ("learn", "judge", "killed", "longest, s", "longest, s"))
        for number in range(self.options.crowds):
            killed = CROWD // 4 if number % 2 else 0
            times = self.tried("crowd", crowds.at_once, self.world, CROWD, CROWD, self.chance, killed)
            if times:
                slow = max(times) >= crowds.MAX_SECONDS
                self.wrong += slow
                figures = (CROWD, CROWD, killed, *(f"{seconds:.2f}" for seconds in times))
                row("exact counts" + ", too slow" * slow, figures)

    def fail(self) -> None:
        header("calls that failed", tuple(failures.ERRORS))
        total: Counter[str] = Counter()
        for name, operation in (WRITING | READING).items():
            times = {}
            for call in failures.ERRORS:
                said = f"{name}: {call}"
                hits = self.tried(said, failures.at_each_call, self.world, operation, call, self.chance, MANY)
                times[call] = hits or 0
            row(name, tuple(times.values()))
            total += Counter(times)
        row("all", tuple(total[call] for call in failures.ERRORS))

    def fill(self) -> None:
        header("disk full", ("refused", "done"))
        with disks.a_disk(8192) as disk:
            for name, operation in WRITING.items():
                codes = self.tried(name, filled, self.world, operation, disk) or []
                row(name, (len(codes) - codes.count(0), codes.count(0)))

    def search(self) -> None:
        """Generated tests with examples that no run had before. What fails is to be made an @example."""
        header("new examples", ("tests",))
        for number in range(self.options.searches):
            row(f"search {number + 1}", (self.tested(["-m", "hypothesis"], SPAMNB_EXAMPLES="search"),))

    def lengthen(self) -> None:
        """Tests in their longer forms."""
        header("longer forms", ("tests",))
        paths = [*LONGER, os.path.join(TESTS, "integrations")]
        row("all of them", (self.tested([*paths, "-k", "not integrations or every_byte"], SPAMNB_LONG="1"),))

    def tested(self, arguments: list[str], **environment: str) -> str:
        """The last line of pytest; all of them are shown when a test fails."""
        if not self.goes_on:
            return "no time"
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *arguments]
        process = subprocess.Popen(
            command, env=os.environ | environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            output, _ = process.communicate(timeout=self.deadline - time.monotonic())
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # then it tells what failed so far
            output, _ = process.communicate()
        if process.returncode not in (0, pytest.ExitCode.INTERRUPTED) or " failed" in output:
            self.wrong += 1
            print(output, file=sys.stderr)
        return output.splitlines()[-1]

    def load(self) -> None:
        """Random clients at the server; then many requests, to see whether its memory grows."""
        load = served(self.world)
        try:
            header("random clients", ("clients", "good asked", "99 %, ms", "polite, ms", "memory, MB"))
            end = time.monotonic() + 60 * self.options.load_minutes
            for seed in count(self.options.seed):
                if time.monotonic() >= end or not self.goes_on:
                    break
                self.tried(f"load, seed {seed}", loaded, load, seed)
            self.tried("memory", remembered, load, self.options.requests)
        finally:
            load.end()


def served(world: World) -> Load:
    """A server with a small model."""
    folder = world.folder / "served"
    for label, make in (("ham", ham), ("spam", spam)):
        (folder / label).mkdir(parents=True)
        for n in range(ENOUGH):
            (folder / label / str(n)).write_bytes(make(n))
    model = str(folder / "served.msgpack")
    world.run("train", "--model", model, str(folder / "ham"), str(folder / "spam")).succeeds()
    (logs := folder / "logs").mkdir()
    return Load(partial(Serving, world.run, logs), model, [ham(98), spam(98), spam(97) * 20])


def loaded(load: Load, seed: int) -> None:
    """A minute of random clients, and what the good one among them had to bear, beside polite clients."""
    polite = load.run(15, seed, kinds=(asks,)).latency(0.99)
    outcome = load.run(60, seed)
    late = outcome.latency(0.99)
    times = (f"{1000 * seconds:.1f}" for seconds in (late, polite))
    asked = sum(outcome.clients.values()), len(outcome.latencies)
    row(f"seed {seed}", (*asked, *times, load.resident() // MEGABYTE))
    load.assert_unhurt()
    assert outcome.refused == []
    assert late < LATE * polite


def remembered(load: Load, requests: int) -> None:
    """The first tenth of the requests fills what is kept for speed; after that nothing may grow."""
    load.ask_often(requests // 10)
    before = load.resident()
    load.ask_often(requests - requests // 10)
    grown = (load.resident() - before) / MEGABYTE
    load.assert_unhurt()
    header("many requests", ("memory then grew by",))
    row(f"{requests:,}", (f"{grown:.1f} MB",))
    assert grown < MAX_GROWN


def filled(world: World, operation: Operation, disk: disks.Disk) -> list[int]:
    """The exit codes with ever more room, until there is enough."""
    codes: list[int] = []
    while len(codes) < 3 or codes[-1]:
        codes.append(failures.without_room(world, operation, disk, PAGES * len(codes)).code)
    return codes


def header(name: str, columns: tuple[str, ...]) -> None:
    """Begin a table, in Markdown."""
    print(flush=True)
    row(name, columns)
    row("---", ("--:",) * len(columns))


def row(name: str, cells: tuple[Any, ...]) -> None:
    print("|", " | ".join(map(str, (name, *cells))), "|", flush=True)


PARTS = {
    "kills": Soak.kill,
    "crowds": Soak.crowd,
    "calls": Soak.fail,
    "full": Soak.fill,
    "load": Soak.load,
    "examples": Soak.search,
    "longer": Soak.lengthen,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all, or some of: {', '.join(PARTS)}")
    parser.add_argument("--kills", type=int, default=500, help="that strike at random (500)")
    parser.add_argument("--crowds", type=int, default=10, help=f"of twice {CROWD} processes (10)")
    parser.add_argument("--load-minutes", type=float, default=10, help="of random clients at the server (10)")
    parser.add_argument("--requests", type=int, default=200_000, help="at the server, then (200,000)")
    parser.add_argument("--searches", type=int, default=1, help="for examples that make a test fail (1)")
    parser.add_argument("--minutes", type=float, default=60, help="at most (60)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="spamnb-soak-") as folder:
        (home := Path(folder, "home")).mkdir()
        (place := Path(folder, "world")).mkdir()
        program = Spamnb(str(home), str(home / "none"))
        soak = Soak(World(place, program), options)
        for part in options.parts or PARTS:
            PARTS[part](soak)
            print(flush=True)
        program.end()
    in_time = "" if soak.goes_on else ", cut short"
    print(f"{(time.monotonic() - begun) / 60:.0f} minutes{in_time}; went wrong: {soak.wrong}")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
