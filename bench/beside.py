"""`make peers`: spamnb and every other filter that is installed, one after the other on the same mail.

    python bench/beside.py [--corpus NAME=HAM,SPAM] [--only spamnb,bogofilter]

Each filter, with its default settings, learns one half of the SpamAssassin corpus (seed 1) and judges the
other half. Then it judges one message of medium size in a new process, as for mail that arrives.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from accuracy import figures, further
from clock import Weather, alone, together
from peers import PEERS, Failed, chosen
from rows import machine
from tables import figure, table

from corpora import Corpus, lay_out

if TYPE_CHECKING:
    from peers import Peer

    from corpora import Laid

COLUMNS = (
    *("filter", "(1-AUC)%", "FN@0.1 %", "F1", "ham lost %", "unsure %", "train msg/s", "judge msg/s"),
    *("one message ms", "training MB", "one message MB", "learned MB"),
)
STARTS = 11  # of a process for one message
PATIENCE = 120  # seconds for one message


def measured(kind: type[Peer], folder: str, learned: Laid, tested: Laid) -> list[str]:
    """Train a filter and let it judge; return its line of the table."""
    peer = kind(os.path.join(folder, kind.__name__))
    training = [together(command) for command in peer.training(learned)]
    if any(used.exit_code for used in training):
        raise Failed(f"training failed; its exit codes: {[used.exit_code for used in training]}")
    start = time.monotonic()
    judged = peer.judge(tested.paths)
    judging = time.monotonic() - start
    message = sorted(tested.paths, key=os.path.getsize)[tested.count // 2]
    found = figures(np.array(tested.is_spam), judged)
    ones = [alone(peer.one(message), PATIENCE) for _ in range(STARTS)]
    return [
        kind.name,
        figure(found["one_minus_auc_percent"], 4),
        figure(found["missed_at_0.1"]),
        figure(found["f1"], 4),
        figure(found["ham_lost_percent"], 3),
        figure(found["unsure_percent"]),
        figure(learned.count / sum(used.seconds for used in training), 0),
        figure(tested.count / judging, 0),
        figure(1000 * median(used.seconds for used in ones), 1),
        figure(max(used.peak for used in training), 0),
        figure(median(used.peak for used in ones), 0),
        figure(peer.size() / 1e6),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=HAM,SPAM", help="other mail")
    parser.add_argument("--only", default="all", help=f"of {','.join(PEERS)}")
    asked = parser.parse_args()
    (kinds, gone), failed = chosen(asked.only), []
    weather = Weather()
    weather.look()
    for corpus in (Corpus.spamassassin(), *map(further, asked.corpus)):
        learned, tested = corpus.halves(1)
        halves = (learned, "learned"), (tested, "tested")
        print(f"## {corpus.name}: {len(learned):,} messages learned, {len(tested):,} judged\n")
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            mail = [lay_out(half, os.path.join(folder, name)) for half, name in halves]
            for kind in kinds:
                try:
                    rows.append(measured(kind, folder, *mail))
                except (Failed, OSError, ValueError, IndexError, KeyError) as error:
                    failed.append(f"{kind.name} on {corpus.name}: {type(error).__name__}: {error}")
        print(table(COLUMNS, rows), end="\n\n", flush=True)
    weather.look()
    versions = ", ".join(f"{kind.name} {kind.version()}" for kind in kinds)
    print("\n".join([versions, *gone, *failed, machine(), *weather.lines()]))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
