"""Training by workers of a cluster on this machine, beside its processes; merging; what a worker holds."""

from __future__ import annotations

import argparse
import filecmp
import os
import sys
import tempfile
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from clock import MEGABYTE, Weather, together
from models import made_up
from peers import SPAMNB, Command, Failed
from rows import COLUMNS, Row, machine
from tables import save, table

from corpora import LABELS, Corpus, resampled, write_mbox
from spamnb.reading.settings import Settings
from spamnb.tables.count_table import CountTable
from spamnb.tables.learned import NOTHING_LEARNED
from spamnb.training.writing import write_shards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clock import Used

MESSAGES, TOKENS = 20_000, 8_000_000
TURNS = 3
TABLES = 64  # that are summed, each of some mail
DEPTHS = (0, 1, 2)
WORKERS = 2


def main() -> int:
    asked = options()
    if asked.reduce is not None:
        reduced(asked.reduce, asked.tokens, asked.folder)
        return 0
    weather = Weather()
    weather.look()
    with tempfile.TemporaryDirectory() as folder:
        rows = [*trained(folder, asked.messages), *held(folder, asked.tokens)]
    weather.look()
    notes = [machine(), *weather.lines()]
    print("\n".join((table(COLUMNS, [row.cells() for row in rows]), "", *notes)))
    save(asked.json, {"rows": [row.cells() for row in rows], "notes": notes})
    return 0


def trained(folder: str, messages: int) -> Iterator[Row]:
    boxes = mailboxes(folder, messages)
    size = sum(map(os.path.getsize, boxes)) / MEGABYTE
    used: dict[str, list[Used]] = {}
    for _ in range(TURNS):
        for jobs in ("1", str(WORKERS)):
            for how in ((), ("--cluster", "local")):
                path = os.path.join(folder, f"model{jobs}{len(how)}")
                words = [SPAMNB, "train", "--fresh", "--model", path, "--jobs", jobs, *how, *boxes]
                used.setdefault(f"{jobs} {len(how)}", []).append(done(together(Command(words))))
    same = filecmp.cmp(os.path.join(folder, "model10"), os.path.join(folder, "model22"), shallow=False)
    yield Row(f"{messages:,} messages, {size:,.0f} MB: the same file from all", "yes" if same else "NO")
    for jobs in ("1", str(WORKERS)):
        ours, beside = (median(one.seconds for one in used[f"{jobs} {how}"]) for how in (2, 0))
        limit = 0.8 if jobs == str(WORKERS) else None
        name = f"train, {jobs} worker{'s' * (jobs > '1')} of a cluster here, beside --jobs {jobs}"
        yield Row(name, f"{ours:.1f} s", f"{beside:.1f} s", beside / ours, at_least=limit)
        ours_mb, beside_mb = (max(one.largest for one in used[f"{jobs} {how}"]) for how in (2, 0))
        yield Row("… largest process", f"{ours_mb:.0f} MB", f"{beside_mb:.0f} MB")
    yield from merged(folder, boxes)


def merged(folder: str, boxes: list[str]) -> Iterator[Row]:
    """Two models, each of one label's mail: nothing in common but words."""
    halves = [os.path.join(folder, name) for name in ("half0", "half1")]
    for path, label, box in zip(halves, LABELS, boxes, strict=True):
        done(together(Command([SPAMNB, "train", "--model", path, f"--{label}", box])))
    out = os.path.join(folder, "merged")
    used = done(together(Command([SPAMNB, "merge", out, *halves])))
    size = sum(map(os.path.getsize, halves)) / MEGABYTE
    yield Row(f"merge two models, {size:.0f} MB", f"{used.seconds:.1f} s", f"{used.largest:.0f} MB resident")


def held(folder: str, tokens: int) -> Iterator[Row]:
    """The largest process while tables are summed into shards, for trees of several depths."""
    for depth in DEPTHS:
        words = [sys.executable, os.path.abspath(__file__), "--reduce", str(depth), "--tokens", str(tokens)]
        used = done(together(Command([*words, "--folder", folder])))
        size = os.path.getsize(os.path.join(folder, "reduced")) / MEGABYTE
        name = (
            f"sum {TABLES} tables into {8**depth} part{'s' * (depth > 0)}, {tokens:,} tokens ({size:.0f} MB)"
        )
        yield Row(name, f"{used.seconds:.1f} s", f"{used.largest:.0f} MB in one process")


def reduced(depth: int, tokens: int, folder: str) -> None:
    from spamnb.workers.cluster.connecting import client_of
    from spamnb.workers.cluster.pool import ClusterPool

    with client_of("local", WORKERS) as client:
        pool = ClusterPool(client, [folder], depth=depth)
        total = pool.table_sum(None, LABELS)
        for number in range(TABLES):
            total.add(pool.submit(made, number, tokens // TABLES))
        shards = total.shards()
        path = os.path.join(folder, "reduced")
        write_shards(path, LABELS, shards, NOTHING_LEARNED, Settings(), map_shards=pool.map_shards)


def made(number: int, tokens: int) -> CountTable:
    """A table of tokens that no other has."""
    table = made_up(replace(CountTable.empty(LABELS), last_days=np.ones(1, np.uint16)), tokens, seed=number)
    return replace(table, learned=NOTHING_LEARNED)


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
    parser.add_argument("--tokens", type=int, default=TOKENS, help="to sum")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--reduce", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
