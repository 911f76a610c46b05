"""Compare the accuracy of spamnb, with its defaults, and of other filters, on the same random splits."""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import numpy as np
import variants
import verdicts
from peers import EVERY_DAY, PEERS, Failed, Spamnb, chosen
from tables import figure, table

from corpora import Corpus, lay_out
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.outcome import roc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from peers import Array, Judged, Peer

SEEDS = 5
DRAWS = 20
HALVES, VARIANTS = "halves", "variants"
# Column: figure, digits. Unsure spam counts against F1.
COLUMNS = {
    "FP": ("false_positives", 1),
    "FN": ("false_negatives", 1),
    "unsure ham": ("unsure_ham", 1),
    "unsure spam": ("unsure_spam", 1),
    "F1": ("f1", 4),
    "ham lost %": ("ham_lost_percent", 3),
    "unsure %": ("unsure_percent", 2),
    "(1-AUC)%": ("one_minus_auc_percent", 4),
    "FN@0.1 %": ("missed_at_0.1", 2),
    "FN@0.5 %": ("missed_at_0.5", 2),
    "fewest errors": ("fewest_errors", 1),
    "ECE %": ("calibration_error_percent", 2),
    "model MB": ("model_megabytes", 2),
    "train s": ("train_seconds", 1),
    "score s": ("score_seconds", 1),
}

Row = dict[str, Any]


def figures(is_spam: Array, judged: Judged) -> Row:
    known = judged.probability is not None
    spam = judged.probability if judged.probability is not None else np.full(len(is_spam), 0.5)
    metrics = measure(
        ["ham", "spam"], is_spam.astype(int), judged.verdict, judged.score, np.stack((1 - spam, spam), axis=1)
    )
    off = metrics["expected_calibration_error"]
    return {
        "false_positives": metrics["confusion"]["ham"]["spam"],
        "false_negatives": metrics["confusion"]["spam"]["ham"],
        "unsure_ham": metrics["unsure"]["ham"],
        "unsure_spam": metrics["unsure"]["spam"],
        "f1": metrics["labels"]["spam"]["f1"],
        "recall": metrics["labels"]["spam"]["recall"],
        "ham_lost_percent": metrics["ham_lost_percent"],
        "unsure_percent": metrics["unsure_percent"],
        "one_minus_auc_percent": metrics["one_minus_auc_percent"],
        "missed_at_0.1": metrics["spam_missed_at_ham_lost"]["0.1"],
        "missed_at_0.5": metrics["spam_missed_at_ham_lost"]["0.5"],
        "fewest_errors": fewest_errors(is_spam, judged.score),
        "calibration_error_percent": 100 * off if known and off is not None else None,
    }


def fewest_errors(is_spam: Array, score: Array) -> int:
    """Return how many messages the best single cutoff puts on the wrong side."""
    lost, missed = roc(is_spam, score)
    errors = lost * np.count_nonzero(~is_spam) + missed * np.count_nonzero(is_spam)
    return round(float(errors.min()) / 100)


class Trial:
    """A corpus to train with, a corpus to test with, and the results of every filter."""

    def __init__(self, name: str, seed: int | None, train: Corpus, test: Corpus) -> None:
        self.name = name
        self.seed = seed
        self.train = train
        self.test = test
        self.rows: dict[str, Row] = {}
        self.failures: dict[str, str] = {}

    def run(self, kinds: Sequence[type[Peer]], workers: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            mail = lay_out(self.train, os.path.join(folder, "train"))
            tested = lay_out(self.test, os.path.join(folder, "test"))
            paths, self.is_spam = tested.paths, np.array(tested.is_spam)

            def one(kind: type[Peer]) -> None:
                try:
                    peer = kind(os.path.join(folder, kind.__name__))
                    start = time.monotonic()
                    peer.train(mail)
                    trained = time.monotonic()
                    judged = peer.judge(paths)
                    self.rows[kind.name] = {
                        **figures(self.is_spam, judged),
                        "model_megabytes": peer.size() / 1e6,
                        "train_seconds": trained - start,
                        "score_seconds": time.monotonic() - trained,
                    }
                except (Failed, OSError, ValueError, IndexError, KeyError) as error:
                    self.failures[kind.name] = f"{type(error).__name__}: {error}"

            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(one, kinds))


def trials(corpora: Sequence[Corpus], seeds: int) -> Iterator[Trial]:
    for corpus in corpora:
        for seed in range(1, seeds + 1):
            yield Trial(f"{corpus.name}, half", seed, *corpus.halves(seed))


def summary(name: str, done: Sequence[Trial], order: Sequence[str]) -> str:
    """Return the table of one kind of trial: the mean results of each filter over all seeds."""
    first = done[0]
    title = (
        f"{name}: trained {len(first.train.ham):,} ham + {len(first.train.spam):,} spam, tested "
        f"{len(first.test.ham):,} + {len(first.test.spam):,}; mean of {len(done)}"
    )
    rows = []
    for peer in order:
        own = [trial.rows[peer] for trial in done if peer in trial.rows]
        if own:
            means = averages(own)
            rows.append([peer, *(figure(means[key], digits) for key, digits in COLUMNS.values())])
    return "\n".join((f"## {title}", "", table(["filter", *COLUMNS], rows), ""))


def averages(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the mean of each column, or the median for times."""
    found = {}
    for key, _ in COLUMNS.values():
        values = [row[key] for row in rows if row[key] is not None]
        found[key] = (median if key.endswith("seconds") else mean)(values) if values else None
    return found


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    everything = [HALVES, VARIANTS, *verdicts.SECTIONS]
    parser.add_argument("--only", default=",".join(everything), help=f"of {','.join(everything)}")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"half splits of each corpus ({SEEDS})")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"random choices of little mail ({DRAWS})")
    parser.add_argument("--peers", help=f"of {','.join(PEERS)}, or all ({','.join(EVERY_DAY)})")
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="NAME=HAM,SPAM", help="further mail, two folders"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="peers that run at once")
    return parser.parse_args()


def further(text: str) -> Corpus:
    name, _, folders = text.partition("=")
    ham, _, spam = folders.partition(",")
    if not spam:
        raise SystemExit(f"--corpus {text}: not of the form NAME=HAM,SPAM")
    return Corpus.read(name, [ham], [spam])


def main() -> None:
    chosen_options = options()
    kinds, gone = chosen(chosen_options.peers)
    names = [kind.name for kind in kinds]
    corpora = [Corpus.spamassassin(), *map(further, chosen_options.corpus)]
    only, start = chosen_options.only.split(","), time.monotonic()
    done: list[Trial] = []
    for trial in trials(corpora, chosen_options.seeds) if HALVES in only else ():
        trial.run(kinds, chosen_options.workers)
        done.append(trial)
        for name, why in trial.failures.items():
            gone.append(f"{name} on {trial.name}: {why}")
    for name, same in itertools.groupby(done, lambda trial: trial.name):
        print(summary(name, list(same), names))
    if VARIANTS in only:
        with tempfile.TemporaryDirectory() as folder:
            for text in variants.report(corpora, folder):
                print(text, flush=True)
    if sections := [name for name in only if name not in (HALVES, VARIANTS)]:
        with tempfile.TemporaryDirectory() as folder:
            mail = verdicts.Mail(corpora, folder)
            filters = [each(mail) for each in verdicts.FILTERS if each.name in names]
            for text in verdicts.report(mail, sections, chosen_options.draws, filters):
                print(text, flush=True)
    for line in gone:
        print(line)
    print(f"{time.monotonic() - start:.0f} s")
    if any(Spamnb.name in trial.failures for trial in done):
        raise SystemExit("spamnb itself failed")


if __name__ == "__main__":
    main()
