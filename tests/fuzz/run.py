"""`make fuzz`: a search for bytes that break what spamnb holds, guided by the code they reach.

The core is compiled for it with AddressSanitizer and UndefinedBehaviorSanitizer. Each target runs in a
process of its own. What was worth keeping stays in .fuzz/corpus/ for the next search; bytes that break a
target stay in .fuzz/, and make this fail.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from fuzz.build import KEPT, environment
from fuzz.targets import TARGETS
from helpers.paths import TESTS

MEMORY = 1024  # megabytes that a process may take, fuzzer and all
LONGEST = 60  # seconds by the clock for one input: a hang, even on a busy machine
# Inputs are not chosen by how rare what they reach is: to count that took two thirds of the time of markup.
# Nor does one run again if less is freed than taken, an eighth of it: Python keeps much for later.
SPARED = ["-entropic=0", "-detect_leaks=0"]
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
CORPUS = KEPT / "corpus"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all, or some of: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 for no end (60)")
    parser.add_argument("--runs", type=int, default=-1, help="of each target, if that is sooner")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time; all cores")
    options = parser.parse_args()
    made = environment()
    names = options.targets or list(TARGETS)
    print(f"## {' '.join(sys.argv[1:]) or 'all targets'}\n")
    columns = "target | runs | seconds | a second | edges | corpus | MB | found"
    print(f"| {columns} |\n|---|" + "--:|" * 6 + "---|")
    limits = [f"-max_total_time={options.seconds}", f"-runs={options.runs}"]
    with ThreadPoolExecutor(options.jobs) as threads:
        sizes = {name: f"-max_len={TARGETS[name].largest}" for name in names}
        figures = list(threads.map(lambda name: searched(name, [*limits, sizes[name]], made), names))
    print(f"all: {sum(runs for runs, _ in figures):,} runs")
    return 0 if all(sound for _, sound in figures) else 1


def searched(name: str, limits: list[str], made: dict[str, str]) -> tuple[int, bool]:
    """Print the figures of a search; return how often it ran the target, and whether nothing was found."""
    start = time.monotonic()
    corpus = CORPUS / name
    corpus.mkdir(parents=True, exist_ok=True)
    status, said = libfuzzer(name, [*limits, str(corpus)], made)
    took = time.monotonic() - start
    done = last(r"stat::number_of_executed_units:\s*(\d+)", said)
    edges, units = last(r" cov: (\d+)", said), last(r" corp: (\d+)/", said)
    memory = last(r"stat::peak_rss_mb:\s*(\d+)", said)
    found = f"see {KEPT}/{name}-*" if status else "nothing"
    figures = f"{done:,} | {took:.0f} | {done / took:,.0f} | {edges:,} | {units:,} | {memory}"
    print(f"| {name} | {figures} | {found} |", flush=True)
    if status:
        signs = ("Traceback", "ERROR: libFuzzer", "ERROR: AddressSanitizer", "runtime error:")
        print(said[max(0, *map(said.find, signs)) :], file=sys.stderr)
    return done, not status


def libfuzzer(name: str, options: list[str], made: dict[str, str]) -> tuple[int, str]:
    """Run libFuzzer on a target; return its status, and what it printed."""
    told = [*SPARED, f"-rss_limit_mb={MEMORY}", f"-timeout={LONGEST}", "-print_final_stats=1"]
    with tempfile.TemporaryDirectory(prefix="spamnb-fuzz-", dir=IN_MEMORY) as folder:
        ended = subprocess.run(
            [sys.executable, "-m", "fuzz.search", name, *told, f"-artifact_prefix={KEPT}/{name}-", *options],
            capture_output=True,
            text=True,
            errors="replace",
            env={**made, "TMPDIR": folder},
            cwd=TESTS,
        )
    return ended.returncode, ended.stderr + ended.stdout


def last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
