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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.build import KEPT, environment
from fuzz.targets import TARGETS
from helpers.paths import TESTS

MEMORY = 1024  # megabytes that a process may take, fuzzer and all
MAX_SECONDS = 60  # seconds by the clock for one input: a hang, even on a busy machine
# Inputs are not chosen by how rare what they reach is: to count that took two thirds of the time of markup.
# Nor does one run again if less is freed than taken, an eighth of it: Python keeps much for later.
SPARED = ["-entropic=0", "-detect_leaks=0"]
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
CORPUS = KEPT / "corpus"
FIGURES = (
    *(r"stat::number_of_executed_units:\s*(\d+)", r"stat::average_exec_per_sec:\s*(\d+)"),
    *(r" cov: (\d+)", r" corp: (\d+)/", r"stat::peak_rss_mb:\s*(\d+)"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all, or some of: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 for no end (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time; all cores")
    options = parser.parse_args()
    made = environment()
    print(f"## {' '.join(sys.argv[1:]) or 'all targets'}\n")
    print("| target | runs | a second | edges | corpus | MB | found |\n|---|" + "--:|" * 5 + "---|")
    with ThreadPoolExecutor(options.jobs) as threads:
        names = options.targets or TARGETS
        done = list(threads.map(lambda name: searched(name, options.seconds, made), names))
    print(f"all: {sum(runs for runs, _ in done):,} runs")
    return 0 if all(sound for _, sound in done) else 1


def searched(name: str, seconds: int, made: dict[str, str]) -> tuple[int, bool]:
    """Run libFuzzer on a target and print its figures; return its runs, and whether nothing was found."""
    corpus = CORPUS / name
    corpus.mkdir(parents=True, exist_ok=True)
    limits = f"-max_total_time={seconds} -max_len={TARGETS[name].largest} -rss_limit_mb={MEMORY}"
    output = [*SPARED, *limits.split(), f"-timeout={MAX_SECONDS}", "-print_final_stats=1"]
    output.append(f"-artifact_prefix={KEPT}/{name}-")
    with tempfile.TemporaryDirectory(prefix="spamnb-fuzz-", dir=IN_MEMORY) as folder:
        log = Path(folder, "log")  # no pipe: what names functions for a sanitizer may hang, and hold it open
        with log.open("wb") as to:
            ended = subprocess.run(
                [sys.executable, "-m", "fuzz.search", name, *output, corpus],
                stdout=to,
                stderr=to,
                env={**made, "TMPDIR": folder},
                cwd=TESTS,
            )
        said = log.read_text(errors="replace")
    figures = " | ".join(f"{last(pattern, said):,}" for pattern in FIGURES)
    found = f"see {KEPT}/{name}-*" if ended.returncode else "nothing"
    print(f"| {name} | {figures} | {found} |", flush=True)
    if ended.returncode:
        signs = ("Traceback", "ERROR: libFuzzer", "ERROR: AddressSanitizer", "runtime error:")
        print(said[min((at for at in map(said.find, signs) if at >= 0), default=0) :], file=sys.stderr)
    return last(FIGURES[0], said), ended.returncode == 0


def last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
