"""Compare training by workers of a Dask cluster on this machine and by --jobs; also measure merging."""

from __future__ import annotations

import argparse
import filecmp
import os
import sys
import tempfile
from statistics import median
from typing import TYPE_CHECKING

from clock import MEGABYTE, Weather, together
from distributed import LocalCluster
from peers import SPAMNB, Command, Failed
from rows import COLUMNS, Row, machine
from tables import table

from corpora import LABELS, Corpus, resampled, write_mbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clock import Used

MESSAGES = 20_000
TURNS = 3
WORKERS = 2


def main() -> int:
    asked = options()
    weather = Weather()
    weather.look()
    with tempfile.TemporaryDirectory() as folder:
        boxes = mailboxes(folder, asked.messages)
        rows = [*trained(folder, boxes, asked.messages), *merged(folder, boxes)]
    weather.look()
    notes = [machine(), *weather.lines()]
    print("\n".join((table(COLUMNS, [row.cells() for row in rows]), "", *notes)))
    return 0


def trained(folder: str, boxes: list[str], messages: int) -> Iterator[Row]:
    size = sum(map(os.path.getsize, boxes)) / MEGABYTE
    here, there = os.path.join(folder, "here"), os.path.join(folder, "there")
    jobs: list[Used] = []
    workers: list[Used] = []
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster:
        for _ in range(TURNS):
            for path, how, used in (
                (here, ("--jobs", str(WORKERS)), jobs),
                (there, ("--jobs", cluster.scheduler_address), workers),
            ):
                words = [SPAMNB, "train", "--fresh", "--model", path, *how, *boxes]
                used.append(done(together(Command(words))))
    same = filecmp.cmp(here, there, shallow=False)
    yield Row(f"{messages:,} messages, {size:,.0f} MB: the same file from both", "yes" if same else "NO")
    ours, beside = (median(one.seconds for one in used) for used in (workers, jobs))
    name = f"train, {WORKERS} workers of a cluster here, beside --jobs {WORKERS}"
    yield Row(name, f"{ours:.1f} s", f"{beside:.1f} s", beside / ours, at_least=0.8)


def merged(folder: str, boxes: list[str]) -> Iterator[Row]:
    """Yield the row about merging two models, one of ham and one of spam."""
    halves = [os.path.join(folder, name) for name in ("half0", "half1")]
    for path, label, box in zip(halves, LABELS, boxes, strict=True):
        done(together(Command([SPAMNB, "train", "--model", path, f"--{label}", box])))
    out = os.path.join(folder, "merged")
    used = done(together(Command([SPAMNB, "merge", out, *halves])))
    size = sum(map(os.path.getsize, halves)) / MEGABYTE
    yield Row(f"merge two models, {size:.0f} MB", f"{used.seconds:.1f} s", f"{used.peak:.0f} MB of memory")


def mailboxes(folder: str, messages: int) -> list[str]:
    corpus = Corpus.spamassassin()
    boxes = []
    for label in LABELS:
        share = round(messages * len(corpus.of(label)) / len(corpus))
        path = os.path.join(folder, f"{label}.mbox")
        boxes.append(write_mbox(path, resampled(corpus.of(label), share, seed=messages)))
    return boxes


def done(used: Used) -> Used:
    if used.exit_code:
        raise Failed(f"ended with {used.exit_code}")
    return used


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="to train on")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
