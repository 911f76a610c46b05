"""Accuracy of spamnb with its defaults, beside the peers that are installed, on the same seeded splits."""

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
from peers import EVERY_DAY, PEERS, Failed, Spamnb, chosen
from tables import figure, save, table

from corpora import Corpus, lay_out
from spamnb.evaluation.intervals import compare_auc
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.outcome import roc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from peers import Array, Judged, Peer

SEEDS = 5
LEARNED = (2, 5, 10, 30, 100, 300, 1000)  # messages of each label: the first days
DRAWS, TESTED = 20, 2000  # of each; and messages of each label that a draw is tested with, at most
MISFILED_DRAWS = 10
MISFILED_LEARNED = (None, 50, 200, 1000)  # messages of each label; None is half of the corpus
MISFILED = ((0, 0), (2.5, 2.5), (5, 5), (10, 10), (5, 0), (0, 5))  # % of the ham, and of the spam
BASE = "bogofilter"  # what the ratios are to
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
RATIOS = ("one_minus_auc_percent", "missed_at_0.1", "missed_at_0.5", "fewest_errors")

Row = dict[str, Any]


def figures(is_spam: Array, judged: Judged) -> Row:
    known = judged.probability is not None
    spam = judged.probability if judged.probability is not None else np.full(len(is_spam), 0.5)
    metrics = measure(
        ["ham", "spam"],
        is_spam.astype(int),
        judged.verdict,
        judged.score,
        np.stack((1 - spam, spam), axis=1),
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
    """Messages on the wrong side of the best cutoff there is: what the ranking alone allows."""
    lost, missed = roc(is_spam, score)
    errors = lost * np.count_nonzero(~is_spam) + missed * np.count_nonzero(is_spam)
    return round(float(errors.min()) / 100)


class Trial:
    """One corpus to train, one to test, and what every peer makes of it."""

    def __init__(self, name: str, seed: int | None, train: Corpus, test: Corpus) -> None:
        self.name = name
        self.seed = seed
        self.train = train
        self.test = test
        self.rows: dict[str, Row] = {}
        self.scores: dict[str, Array] = {}
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
                    self.scores[kind.name] = judged.score
                except (Failed, OSError, ValueError, IndexError, KeyError) as error:
                    self.failures[kind.name] = f"{type(error).__name__}: {error}"

            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(one, kinds))

    def as_map(self) -> dict[str, Any]:
        many = {
            label: {"ham": len(each.ham), "spam": len(each.spam)}
            for label, each in (("trained", self.train), ("tested", self.test))
        }
        return {
            "trial": self.name,
            "seed": self.seed,
            **many,
            "peers": self.rows,
            "ratios": self.ratios(),
            "failures": self.failures,
        }

    def ratios(self) -> dict[str, dict[str, float | None]]:
        base = self.rows.get(BASE)
        if base is None:
            return {}
        return {name: {key: ratio(row[key], base[key]) for key in RATIOS} for name, row in self.rows.items()}

    def versus_base(self) -> list[str]:
        """A line of the comparison between spamnb and bogofilter on this split."""
        mine, base = (self.rows[name] for name in (Spamnb.name, BASE))
        compared = compare_auc(self.is_spam, self.scores[Spamnb.name], self.scores[BASE])
        cells = [self.name, "–" if self.seed is None else str(self.seed)]
        for key, digits in (("one_minus_auc_percent", 4), ("missed_at_0.1", 2), ("fewest_errors", 0)):
            cells += [figure(mine[key], digits), figure(base[key], digits)]
            cells.append(figure(ratio(mine[key], base[key])))
        return [*cells, figure(compared, 3)]


def trials(corpora: Sequence[Corpus], seeds: int, crossed: bool) -> Iterator[Trial]:
    for corpus in corpora:
        for seed in range(1, seeds + 1):
            yield Trial(f"{corpus.name}, half", seed, *corpus.halves(seed))
    if crossed:
        for train, test in itertools.permutations(corpora, 2):
            yield Trial(f"{train.name} → {test.name}", None, train, test)


def first_days(corpus: Corpus, draws: int, kinds: Sequence[type[Peer]], workers: int) -> Iterator[str]:
    """The learning curve: what is lost, caught and unsure after so few messages, draw by draw."""
    yield f"## {corpus.name}, the first days: so many ham and spam learned, {draws} draws each\n"
    columns = ["learned", "filter", "ham lost %", "most", "≤ 0.1 %", "spam caught %", "unsure %"]
    rows = []
    for count in LEARNED:
        if 1.5 * count > min(len(corpus.ham), len(corpus.spam)):
            break
        done = []
        for seed in range(draws):
            done.append(Trial(f"{corpus.name}, {count}", seed, *corpus.draw(count, seed, TESTED)))
            done[-1].run(kinds, workers)
        rows += [[f"{count:,}", *cells] for cells in means_of_draws(done, kinds)]
    yield table(columns, rows) + "\n"


def means_of_draws(done: Sequence[Trial], kinds: Sequence[type[Peer]]) -> Iterator[list[str]]:
    """Of each filter: what it lost, at most, in how many draws no more than asked for; caught; unsure."""
    for kind in kinds:
        own = [trial.rows[kind.name] for trial in done if kind.name in trial.rows]
        if own:
            lost = [row["ham_lost_percent"] for row in own]
            kept = f"{sum(each <= 0.1 for each in lost)} of {len(own)}"
            caught, unsure = (
                mean(100 * row["recall"] for row in own),
                mean(row["unsure_percent"] for row in own),
            )
            shown = (figure(mean(lost), 3), figure(max(lost), 2), kept, figure(caught, 1))
            yield [kind.name, *shown, figure(unsure, 1)]


def misfiled(corpus: Corpus, draws: int, kinds: Sequence[type[Peer]], workers: int) -> Iterator[str]:
    """What is lost, caught and unsure when some of the mail learned is filed under the other label."""
    columns = ["ham as spam %", "spam as ham %", "filter", "ham lost %", "most", "≤ 0.1 %", "spam caught %"]
    for count in MISFILED_LEARNED:
        learned = f"{count:,} of each" if count else "half"
        yield f"## {corpus.name}, {learned} learned, some misfiled, {draws} draws each\n"
        rows = []
        for shares in MISFILED:
            done = []
            for seed in range(draws):
                train, test = corpus.draw(count, seed, TESTED) if count else corpus.halves(seed)
                train = train.misfiled(shares[0] / 100, shares[1] / 100, seed)
                done.append(Trial(f"{corpus.name}, misfiled", seed, train, test))
                done[-1].run(kinds, workers)
            rows += [[*(f"{share:g}" for share in shares), *cells] for cells in means_of_draws(done, kinds)]
        yield table([*columns, "unsure %"], rows) + "\n"


def summary(name: str, done: Sequence[Trial], order: Sequence[str]) -> str:
    """The table of one kind of trial: means over its seeds."""
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
    text = [f"## {title}", "", table(["filter", *COLUMNS], rows), ""]
    rows = []
    for peer in order:
        pairs = [trial for trial in done if peer in trial.rows and BASE in trial.rows]
        if pairs and peer != BASE:
            ours, base = (averages([trial.rows[who] for trial in pairs]) for who in (peer, BASE))
            rows.append([peer, *(figure(ratio(ours[key], base[key])) for key in RATIOS)])
    if rows:
        names = [column for column, (key, _) in COLUMNS.items() if key in RATIOS]
        text += [table([f"ratio of means to {BASE}", *names], rows), ""]
    return "\n".join(text)


def ratio(ours: float | None, base: float | None) -> float | None:
    return ours / base if ours is not None and base else None


def averages(rows: Sequence[Row]) -> dict[str, float | None]:
    """Means; of times the median."""
    found = {}
    for key, _ in COLUMNS.values():
        values = [row[key] for row in rows if row[key] is not None]
        found[key] = (median if key.endswith("seconds") else mean)(values) if values else None
    return found


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"half splits of each corpus ({SEEDS})")
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--peers", help=f"of {','.join(PEERS)}, or all ({','.join(EVERY_DAY)})")
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="NAME=HAM,SPAM", help="further mail, two folders"
    )
    parser.add_argument("--crossed", action="store_true", help="also train on one corpus, test on another")
    parser.add_argument(
        "--first-days", type=int, default=DRAWS, metavar="DRAWS", help=f"of the learning curve ({DRAWS})"
    )
    parser.add_argument(
        "--misfiled",
        type=int,
        default=MISFILED_DRAWS,
        metavar="DRAWS",
        help=f"of mail filed under the wrong label ({MISFILED_DRAWS})",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="peers that run at once")
    parser.add_argument("--json", metavar="FILE", help="every figure of every split")
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
    order = [kind.name for kind in kinds]
    corpora = [Corpus.spamassassin(), *map(further, chosen_options.corpus)]
    seeds = 1 if chosen_options.quick else chosen_options.seeds
    done: list[Trial] = []
    start = time.monotonic()
    for trial in trials(corpora, seeds, chosen_options.crossed):
        trial.run(kinds, chosen_options.workers)
        done.append(trial)
        save(chosen_options.json, [each.as_map() for each in done])
        for name, why in trial.failures.items():
            gone.append(f"{name} on {trial.name}: {why}")
    for name, same in itertools.groupby(done, lambda trial: trial.name):
        print(summary(name, list(same), order))
    both = [trial for trial in done if Spamnb.name in trial.rows and BASE in trial.rows]
    if both:
        columns = ["trial", "seed"]
        for what in ("(1-AUC)%", "FN@0.1 %", "fewest errors"):
            columns += [what, BASE, "ratio"]
        print(f"## spamnb beside {BASE}, split by split (p: of equal AUC)\n")
        print(table([*columns, "p"], [trial.versus_base() for trial in both]), end="\n\n")
    learners = [kind for kind in kinds if kind.name in (Spamnb.name, BASE)]
    for section, draws in ((first_days, chosen_options.first_days), (misfiled, chosen_options.misfiled)):
        draws = min(3, draws) if chosen_options.quick else draws
        for corpus in corpora if draws else ():
            for line in section(corpus, draws, learners, chosen_options.workers):
                print(line, flush=True)
    for line in gone:
        print(line)
    print(f"{time.monotonic() - start:.0f} s")
    if any(Spamnb.name in trial.failures for trial in done):
        raise SystemExit("spamnb itself failed")


if __name__ == "__main__":
    main()
