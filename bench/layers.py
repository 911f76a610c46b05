"""What a base is worth to a model with little mail. `python bench/layers.py [--corpus NAME=HAM,SPAM …]`.

Of a corpus k ham and k spam are learned, drawn anew each time, by themselves and on top of a base, and other
messages judged, by the base alone, too: (1-AUC)%, spam caught, ham lost and ham called ham. The base is
SpamAssassin's mail; without --corpus, all of it but one mailing list, or half of it, and that list, or the
other half, is learned on top of it. With --reverse, SpamAssassin's mail is learned on top of each corpus.
Beside it bogofilter, with a list of words of its own, and with one of the base, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import Bogofilter, Command
from tables import table

from corpora import Corpus as Mail
from corpora import lay_out, listed
from spamnb.bayes.cutoffs import measured, misfiled_shares, score_scale, spam_scores
from spamnb.bayes.layers import LayeredTotals, layers_of
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import Cutoffs
from spamnb.core.native import CountSum, CountTable, FeatureScorer
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.intervals import auc_loss
from spamnb.model import DEFAULT_VIEW as VIEW
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.workers.local import LocalPool

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]
Limits = tuple[Cutoffs, tuple[float, float]]  # and the shares of misfiled mail
LEARNED = (5, 15, 30, 100, 300)  # messages of each label
JUDGED, FEWEST_JUDGED = 500, 200  # of each label, which are never learned
LABELS = "ham", "spam"
LIST_ID = re.compile(rb"^list-id:[^<\n]*(?:\n[ \t][^<\n]*)*<fork\.xent\.com>", re.I | re.M)
ALONE, BASE, BOTH = "by itself", "the base alone", "on the base"
BOGOFILTER, BOGOFILTER_ON_BASE = "bogofilter", "bogofilter, two lists"


class Counted:
    """The counts of some messages."""

    def __init__(self, corpus: Corpus, messages: Array) -> None:
        self.table = CountTable(LABELS)
        corpus.change(self.table, messages, 1)

    def by_itself(self) -> FeatureScorer:
        return FeatureScorer(Likelihood(self.table, VIEW), self.table)

    def on(self, base: Counted) -> FeatureScorer:
        """Judge as a model on a base does: by the base, by the sum of both, or by itself."""
        is_own, is_base = layers_of(min(self.table.messages), min(base.table.messages))
        if not (is_own and is_base):
            return (self if is_own else base).by_itself()
        likelihood = Likelihood(LayeredTotals(self.table, base.table), VIEW)
        return FeatureScorer(likelihood, CountSum(self.table, base.table))


@dataclass(frozen=True)
class Figures:
    auc_loss: float  # per cent
    caught: float
    lost: float
    ham: float  # called ham

    @classmethod
    def of(cls, is_spam: Array, scores: Array, ham: float, spam: float) -> Figures:
        estimate = auc_loss(is_spam, scores)
        caught, lost = (float((scores[chosen] >= spam).mean()) for chosen in (is_spam, ~is_spam))
        called_ham = float((scores[~is_spam] <= ham).mean())
        return cls(100 * estimate.value if estimate else 0.0, caught, lost, called_ham)

    @classmethod
    def by(cls, scorer: FeatureScorer, limits: Limits, corpus: Corpus, judged: Array) -> Figures:
        cutoffs, shares = limits
        scorer.likelihood.correct(shares)
        joints = np.empty((len(judged), len(LABELS)))
        scorer.score_rows(corpus.rows, judged, joints)
        return cls.of(corpus.truth[judged] == 1, spam_scores(LABELS, joints), cutoffs.ham, cutoffs.spam)


class Trial:
    """A corpus, and the mail that is its base, as one vocabulary."""

    def __init__(self, own: Mail, base: Mail, folder: str) -> None:
        self.mail, self.folder = own, folder
        paths = []
        for name, corpus in (("base", base), ("own", own)):
            laid = lay_out(corpus, os.path.join(folder, name))
            paths += [(label, laid.files(label)) for label in LABELS]
        self.own_files = {
            label: [os.path.join(path, name) for name in listed(path)] for label, path in paths[2:]
        }
        self.base_folders = dict(paths[:2])
        batches = [
            batch
            for label, path in paths
            for batch in LocalPool(None).batches(MailToRead({label: [path]}, Settings()))
        ]
        self.corpus = Corpus.of(LABELS, batches)
        self.is_base = np.arange(len(self.corpus)) < len(base)
        self.base = Counted(self.corpus, np.flatnonzero(self.is_base))
        self.base_limits = self.limits(self.base, np.flatnonzero(self.is_base))

    def draws(self, seed: int) -> tuple[list[Array], Array]:
        """Shuffle the messages of each label: those to learn from, and those to judge."""
        draw = np.random.default_rng(seed)
        shuffled = [
            draw.permutation(np.flatnonzero(~self.is_base & (self.corpus.truth == k))) for k in range(2)
        ]
        most = [min(max(LEARNED), len(own) - FEWEST_JUDGED) for own in shuffled]
        judged = [own[first : first + JUDGED] for own, first in zip(shuffled, most, strict=True)]
        return [own[:first] for own, first in zip(shuffled, most, strict=True)], np.sort(
            np.concatenate(judged)
        )

    def limits(self, counted: Counted, learned: Array) -> Limits:
        """Set the cutoffs of a model by its mail, as training does; with the shares of misfiled mail."""
        truth = self.corpus.truth[learned]
        scores, shares = left_out(counted.by_itself(), self.corpus, learned)
        leads = np.full(len(scores), np.nan)
        return measured(LABELS, truth, scores, leads, scale=score_scale(VIEW))[0], shares

    def figures(self, learned: Array, judged: Array) -> dict[str, Figures]:
        """Learn and judge: by itself, by the base alone, and on the base."""
        own, of_judged = Counted(self.corpus, learned), (self.corpus, judged)
        limits = self.limits(own, learned)
        _, is_base = layers_of(min(own.table.messages), min(self.base.table.messages))
        return {
            ALONE: Figures.by(own.by_itself(), limits, *of_judged),
            BASE: Figures.by(self.base.by_itself(), self.base_limits, *of_judged),
            BOTH: Figures.by(own.on(self.base), self.base_limits if is_base else limits, *of_judged),
        }

    def path_of(self, message: int) -> str:
        path, _ = self.corpus.names[message]
        return path


def left_out(scorer: FeatureScorer, corpus: Corpus, messages: Array) -> tuple[Array, tuple[float, float]]:
    """Score messages as training does, each by the others; also returns the shares of misfiled mail."""
    truth, joints = corpus.truth[messages], np.empty((len(messages), len(LABELS)))

    def scores() -> Array:
        scorer.score_left_out(corpus.rows, messages, truth, joints)
        return spam_scores(LABELS, joints).astype(np.float32)

    found = scores()
    shares = misfiled_shares(LABELS, truth, found)
    if any(shares):
        scorer.likelihood.correct(shares)
        found = scores()
    return found, shares


class LayeredBogofilter(Bogofilter):
    """bogofilter with its own list of words and, if there is one, that of a base."""

    def __init__(self, folder: str, base: str | None) -> None:
        super().__init__(folder)
        lists = [f"wordlist R,own,{self.at('wordlist.db')},1"]
        lists += [f"wordlist R,base,{base},2"] if base else []
        with open(self.at("bogofilter.cf"), "w") as file:
            file.write("\n".join(lists) + "\n")

    def learn(self, paths: dict[str, list[str]]) -> None:
        for flag, label in (("-n", "ham"), ("-s", "spam")):
            Command(
                ["bogofilter", "-C", "-d", self.folder, flag, "-b"], "\n".join(paths[label]).encode()
            ).run()

    @property
    def _call(self) -> list[str]:
        return ["bogofilter", "-c", self.at("bogofilter.cf"), "-d", self.folder]


def by_bogofilter(trial: Trial, learned: Array, judged: Array) -> dict[str, Figures]:
    truth, found = trial.corpus.truth, {}
    base = os.path.join(trial.folder, "words", "wordlist.db")
    if not os.path.exists(base):
        shared = LayeredBogofilter(os.path.dirname(base), None)
        shared.learn(
            {
                label: [os.path.join(folder, name) for name in listed(folder)]
                for label, folder in trial.base_folders.items()
            }
        )
    for name, beneath in ((BOGOFILTER, None), (BOGOFILTER_ON_BASE, base)):
        folder = os.path.join(trial.folder, "bogofilter")
        shutil.rmtree(folder, ignore_errors=True)
        peer = LayeredBogofilter(folder, beneath)
        peer.learn(
            {label: [trial.path_of(m) for m in learned if truth[m] == k] for k, label in enumerate(LABELS)}
        )
        scores = peer.judge([trial.path_of(message) for message in judged]).score
        found[name] = Figures.of(truth[judged] == 1, scores, 0.45, 0.99)
    return found


def one_list(mail: Mail) -> tuple[Mail, Mail]:
    """A reader of one list, and all other mail of the organisation; each has half of the spam."""
    is_listed = [bool(LIST_ID.search(raw.partition(b"\n\n")[0] + b"\n")) for raw in mail.ham]
    own = [raw for raw, listed_ in zip(mail.ham, is_listed, strict=True) if listed_]
    others = [raw for raw, listed_ in zip(mail.ham, is_listed, strict=True) if not listed_]
    return Mail("one list", own, mail.spam[::2]), Mail("the others", others, mail.spam[1::2])


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--draws", type=int, default=20)
    options.add_argument("--corpus", action="append", default=[], metavar="NAME=HAM,SPAM")
    options.add_argument("--reverse", action="store_true", help="learn SpamAssassin's mail on each corpus")
    options.add_argument("--no-bogofilter", action="store_true")
    given = options.parse_args()
    shared = Mail.spamassassin()
    trials = [] if given.corpus else [one_list(shared), shared.halves(1)]
    for text in given.corpus:
        name, _, paths = text.partition("=")
        ham, spam = paths.split(",")
        mail = Mail.read(name, [ham], [spam])
        trials.append((shared, mail) if given.reverse else (mail, shared))
    has_bogofilter = not given.no_bogofilter and LayeredBogofilter.missing() is None
    for own, base in trials:
        with tempfile.TemporaryDirectory() as folder:
            print(
                f"\n## {own.name} ({len(own.ham)} ham, {len(own.spam)} spam) on {base.name} ({len(base)})\n",
                flush=True,
            )
            rows = measure(Trial(own, base, folder), given.draws, has_bogofilter)
            names = (
                "learned of each",
                "filter",
                "(1-AUC)%",
                "spam caught",
                "ham lost",
                "most lost",
                "called ham",
            )
            print(table(names, rows), flush=True)


def measure(trial: Trial, draws: int, has_bogofilter: bool) -> Sequence[Sequence[str]]:
    found: dict[tuple[int, str], list[Figures]] = defaultdict(list)
    for seed in range(draws):
        shuffled, judged = trial.draws(seed)
        for count in LEARNED:
            if count > min(map(len, shuffled)):
                continue
            learned = np.sort(np.concatenate([own[:count] for own in shuffled]))
            figures = trial.figures(learned, judged)
            if has_bogofilter:
                figures |= by_bogofilter(trial, learned, judged)
            for name, of_filter in figures.items():
                found[count, name].append(of_filter)
    return [row(count, name, each) for (count, name), each in found.items()]


def row(count: int, name: str, figures: list[Figures]) -> Sequence[str]:
    def mean(field: str) -> float:
        return float(np.mean([getattr(each, field) for each in figures]))

    most = max(each.lost for each in figures)
    return (
        str(count),
        name,
        f"{mean('auc_loss'):.3f}",
        f"{mean('caught'):.1%}",
        f"{mean('lost'):.2%}",
        f"{most:.2%}",
        f"{mean('ham'):.1%}",
    )


if __name__ == "__main__":
    main()
