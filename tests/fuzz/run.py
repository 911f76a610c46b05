"""`make fuzz`: a search for bytes that break what spamnb holds, guided by the code they reach.

Each target runs in a process of its own. What was worth keeping stays in .fuzz/ for the next search; bytes
that break a target stay there, too, and make this fail.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

from fuzz.targets import TARGETS
from helpers.paths import ROOT, TESTS

KEPT = ROOT / ".fuzz"
MEMORY = 512  # megabytes that a process may take, fuzzer and all
LONGEST = 60  # seconds by the clock for one input: a hang, even on a busy machine
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all, or some of: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 for no end (60)")
    parser.add_argument("--runs", type=int, default=-1, help="of each target, if that is sooner")
    options = parser.parse_args()
    print(f"{'target':12}{'runs':>12}{'seconds':>9}{'a second':>10}{'edges':>8}{'corpus':>8}{'MB':>6}  found")
    sound = [searched(name, options.seconds, options.runs) for name in options.targets or TARGETS]
    return 0 if all(sound) else 1


def searched(name: str, seconds: int, runs: int) -> bool:
    """Print the figures of a search; whether nothing was found."""
    corpus = KEPT / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-runs={runs}", f"-timeout={LONGEST}", f"-rss_limit_mb={MEMORY}"]
    told = ["-print_final_stats=1", f"-artifact_prefix={KEPT}/{name}-"]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="spamnb-fuzz-", dir=IN_MEMORY) as folder:
        command = [sys.executable, "-m", "fuzz.search", name, *limits, *told, str(corpus)]
        environment = {**os.environ, "TMPDIR": folder}
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, cwd=TESTS
        )
    took = time.monotonic() - start
    said = ended.stderr + ended.stdout
    done = last(r"stat::number_of_executed_units:\s*(\d+)", said)
    edges, units = last(r" cov: (\d+)", said), last(r" corp: (\d+)/", said)
    memory = last(r"stat::peak_rss_mb:\s*(\d+)", said)
    found = f"see {KEPT}/{name}-*" if ended.returncode else "nothing"
    figures = f"{done:>12,}{took:>9.0f}{done / took:>10,.0f}{edges:>8,}{units:>8,}{memory:>6}"
    print(f"{name:12}{figures}  {found}", flush=True)
    if ended.returncode:
        print(said[max(0, said.find("=== Uncaught"), said.find("ERROR: libFuzzer")) :], file=sys.stderr)
    return not ended.returncode


def last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
