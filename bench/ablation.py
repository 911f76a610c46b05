"""Measure what each default setting contributes: results with and without it. Run by `make ablation`.

Each setting is tested on random halves of each corpus (the results are means), and on a whole corpus after
training on another: (1-AUC)%, spam missed at 0.1 % and 0.5 % ham lost, and the fewest errors with any cutoff.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora import SPAMASSASSIN
from spamnb.bayes.likelihood import Likelihood
from spamnb.core.native import CountTable, FeatureScorer
from spamnb.evaluation.candidates import parse_candidate
from spamnb.evaluation.corpus import NO_DAY, Corpus
from spamnb.evaluation.metrics import measure
from spamnb.reading.settings import Settings
from spamnb.store.merging import Source, merged
from spamnb.training.batches import MailToRead
from spamnb.workers import LocalPool

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.evaluation.candidates import Candidate

LABELS = ("ham", "spam")
RULES = {
    "the default": "default",
    "head and body not split": "split-head-body=no",
    "no pairs of neighbours": "word-pairs=no",
    "no grams": "byte-runs=no",
    "neither pairs nor grams": "word-pairs=no,byte-runs=no",
    "weak evidence counted": "least-evidence=0",
    "evidence from 2 nats on": "least-evidence=2",
    "evidence from 3 nats on": "least-evidence=3",
    "smoothing 0.001": "smoothing=0.001",
    "smoothing 0.1": "smoothing=0.1",
    "smoothing 1": "smoothing=1",
    "no silent tokens": "damping=0",
    "one silent token": "damping=1",
    "sixteen silent tokens": "damping=16",
    "no headers": "headers=no",
    "stems (English)": "stem=english",
    "no stop words (English)": "stop-words=english",
    "trigrams as words": "ngrams=3",
    "textbook: multinomial, Laplace": "event=multinomial",
    "textbook: binary, Laplace": "event=binary",
    "textbook: binary, 0.01": "event=binary,smoothing=0.01",
    "textbook: Bernoulli, Laplace": "event=bernoulli",
    "tokens in one message dropped": "default",
    "tokens in two messages dropped": "default",
    "tokens in five messages dropped": "default",
}
RARE = {
    "tokens in one message dropped": 1,
    "tokens in two messages dropped": 2,
    "tokens in five messages dropped": 5,
}


class Mail:
    """All corpora as one tokenizer reads them; each message has the number of its corpus."""

    def __init__(self, sources: dict[str, dict[str, list[str]]], settings: dict[str, Any]) -> None:
        batches, sizes = [], []
        for paths in sources.values():
            read = list(LocalPool().batches(MailToRead(paths, Settings(**settings))))
            batches += read
            sizes.append(sum(map(len, read)))
        self.corpus = Corpus.of(LABELS, batches)
        self.of = np.repeat(np.arange(len(sizes)), sizes)
        self.is_spam = self.corpus.truth == 1

    def figures(self, one: Candidate, learned: Array, tested: Array, rare: int) -> list[float]:
        table = CountTable(LABELS)
        self.corpus.change(table, np.flatnonzero(learned), 1)
        if rare:
            table, whole = table.copy(), table
            merged(LABELS, [Source(whole)], fill=table, oldest_day=NO_DAY + 1, rare=rare)
        messages = np.flatnonzero(tested)
        joint = np.empty((len(messages), len(LABELS)))
        FeatureScorer(Likelihood(table, one.view), table).score_rows(self.corpus.rows, messages, joint)
        score = np.clip(np.nan_to_num(joint[:, 1] - joint[:, 0]), -1e300, 1e300)
        truth = self.corpus.truth[tested]
        shares = np.full((len(truth), 2), 0.5)
        found = measure(LABELS, truth, truth, score, shares)
        missed = found["spam_missed_at_ham_lost"]
        spam = truth[np.argsort(-score, kind="stable")] == 1
        errors = np.cumsum(~spam) + spam.sum() - np.cumsum(spam)
        at = [missed[loss] or 0.0 for loss in ("0.1", "0.5")]
        return [found["one_minus_auc_percent"] or 0.0, *at, float(errors.min())]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--corpus", action="append", default=[], metavar="NAME=HAM,SPAM")
    options.add_argument("--bodies", action="append", help="for trial.py")
    options.add_argument("--only", help="rules whose name contains this")
    chosen = options.parse_args()
    mbox = {name: os.path.join(SPAMASSASSIN, f"{name}.mbox.xz") for name in ("ham", "hard-ham", "spam")}
    sources = {"spamassassin": {"ham": [mbox["ham"], mbox["hard-ham"]], "spam": [mbox["spam"]]}}
    for text in chosen.corpus:
        name, _, paths = text.partition("=")
        ham, _, spam = paths.partition(",")
        sources[name] = {"ham": [ham], "spam": [spam]}
    names = list(sources)
    trials = names + [f"{a} → {b}" for a in names for b in names if a != b]
    print("| | " + " | ".join(trials) + " |\n" + "|---" * (1 + len(trials)) + "|")
    mail: dict[str, Mail] = {}
    for rule, text in RULES.items():
        if chosen.only and chosen.only not in rule:
            continue
        one, rare = parse_candidate(text), RARE.get(rule, 0)
        key = repr(one.settings)
        if key not in mail:
            mail = {key: Mail(sources, one.settings)} if one.settings else mail | {key: Mail(sources, {})}
        here = mail[key]
        cells = []
        for place in range(len(names)):
            halves = []
            for seed in range(chosen.seeds):
                first = np.random.default_rng(seed).random(len(here.of)) < 0.5
                mine = here.of == place
                halves.append(here.figures(one, first & mine, ~first & mine, rare))
            cells.append(cell(np.mean(halves, axis=0)))
        for a in range(len(names)):
            cells += [
                cell(here.figures(one, here.of == a, here.of == b, rare)) for b in range(len(names)) if a != b
            ]
        print(f"| {rule} | " + " | ".join(cells) + " |", flush=True)


def cell(figures: Any) -> str:
    auc, tenth, half, errors = figures
    return f"{auc:.4f}; {tenth:.2f}, {half:.2f}; {errors:.0f}"


if __name__ == "__main__":
    main()
