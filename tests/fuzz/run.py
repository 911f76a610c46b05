"""`make fuzz`: a search for bytes that break what spamnb holds, guided by the code they reach.

The core is compiled for it with AddressSanitizer and UndefinedBehaviorSanitizer; with --interpreted, its
sources run as they are. Each target runs in a process of its own. What was worth keeping stays in .fuzz/ for
the next search; bytes that break a target stay there, too, and make this fail.
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

from fuzz.forms import INTERPRETED, KEPT, SANITIZED, environment
from fuzz.targets import TARGETS
from helpers.paths import TESTS

MEMORY = {SANITIZED: 1024, INTERPRETED: 512}  # megabytes that a process may take, fuzzer and all
LONGEST = 60  # seconds by the clock for one input: a hang, even on a busy machine
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all, or some of: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 for no end (60)")
    parser.add_argument("--runs", type=int, default=-1, help="of each target, if that is sooner")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time; all cores")
    parser.add_argument("--interpreted", action="store_true", help="search without what is compiled")
    options = parser.parse_args()
    form = INTERPRETED if options.interpreted else SANITIZED
    made = environment(form)
    print(form)
    print(f"{'target':14}{'runs':>12}{'seconds':>9}{'a second':>10}{'edges':>8}{'corpus':>8}{'MB':>6}  found")
    names = options.targets or TARGETS
    limits = [f"-rss_limit_mb={MEMORY[form]}", f"-max_total_time={options.seconds}", f"-runs={options.runs}"]
    with ThreadPoolExecutor(options.jobs) as threads:
        figures = list(threads.map(lambda name: searched(name, limits, made), names))
    print(f"{'all':14}{sum(runs for runs, _ in figures):>12,}")
    return 0 if all(sound for _, sound in figures) else 1


def searched(name: str, limits: list[str], made: dict[str, str]) -> tuple[int, bool]:
    """Print the figures of a search; return how often it ran the target, and whether nothing was found."""
    corpus = KEPT / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    told = [f"-timeout={LONGEST}", "-print_final_stats=1", f"-artifact_prefix={KEPT}/{name}-"]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="spamnb-fuzz-", dir=IN_MEMORY) as folder:
        command = [sys.executable, "-m", "fuzz.search", name, *limits, *told, str(corpus)]
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env={**made, "TMPDIR": folder},
            cwd=TESTS,
        )
    took = time.monotonic() - start
    said = ended.stderr + ended.stdout
    done = last(r"stat::number_of_executed_units:\s*(\d+)", said)
    edges, units = last(r" cov: (\d+)", said), last(r" corp: (\d+)/", said)
    memory = last(r"stat::peak_rss_mb:\s*(\d+)", said)
    found = f"see {KEPT}/{name}-*" if ended.returncode else "nothing"
    figures = f"{done:>12,}{took:>9.0f}{done / took:>10,.0f}{edges:>8,}{units:>8,}{memory:>6}"
    print(f"{name:14}{figures}  {found}", flush=True)
    if ended.returncode:
        signs = ("=== Uncaught", "ERROR: libFuzzer", "ERROR: AddressSanitizer", "runtime error:")
        print(said[max(0, *map(said.find, signs)) :], file=sys.stderr)
    return done, not ended.returncode


def last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
