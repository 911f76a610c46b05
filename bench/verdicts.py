"""Measure verdicts on mail of new kinds, and by models that learned little mail. Run by `make accuracy`.

Random messages are learned from files in this process, all at once or one by one, and others are judged.
bogofilter does the same, by its command line.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from peers import HAM, SPAM, UNSURE, Bogofilter, Command
from tables import figure, table

from corpora import LABELS, Corpus, lay_out
from spamnb.bayes.verdict import HAM_LOSS
from spamnb.evaluation.corpus import Corpus as ReadMail
from spamnb.evaluation.intervals import auc_loss
from spamnb.evaluation.online import in_time_order
from spamnb.evaluation.scores import row_scores
from spamnb.in_memory import load_into_memory
from spamnb.model import Model
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.training.learn import learn
from spamnb.training.train import create, train
from spamnb.workers import LocalPool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Cases = Iterator[tuple[str, Iterator["Case"]]]  # with the titles of tables

Array = np.ndarray[Any, Any]
LEARNED = (2, 5, 8, 10, 15, 30, 60, 100)  # messages of each label: the first week
LESSONS, ON_BASE = 4, (5, 30)  # of each label, on top of a model of another corpus
MISFILED_OF = (None, 200, 50)  # messages of each label; None is half of the corpus
MISFILED = ((0, 0), (2.5, 2.5), (5, 5), (10, 10), (5, 0), (0, 5))  # % of the ham, and of the spam
JUDGED = 2000  # messages of each label, at most, where so many are learned
THEIR_DRAWS = 5  # at most: it judges many times as long
LOSSES = (0.0001, HAM_LOSS, 0.01)
COLUMNS = "ham lost %", "most", "≤ 0.1 %", "spam caught %", "ham called ham %", "unsure %", "(1-AUC)%"
NOTHING = np.array([], int)


class Case(NamedTuple):
    """Messages to learn, perhaps with a model of a corpus as base, and messages to judge, as indices."""

    name: str
    learned: Array
    judged: Array
    base: str = ""
    ham_loss: float = HAM_LOSS
    misfiled: Array = NOTHING  # of those learned
    by_lessons: bool = False


class Figures(NamedTuple):  # percentages
    lost: float
    caught: float
    called_ham: float
    unsure: float
    auc_loss: float

    @classmethod
    def of(cls, is_spam: Array, scores: Array, verdicts: Array) -> Figures:
        ham, spam = verdicts[~is_spam], verdicts[is_spam]
        found = ham == SPAM, spam == SPAM, ham == HAM, verdicts == UNSURE
        lost, caught, called_ham, unsure = (100 * float(np.mean(each)) for each in found)
        estimate = auc_loss(is_spam, scores)
        return cls(lost, caught, called_ham, unsure, 100 * estimate.value if estimate else 0.0)


class Mail:
    """Corpora that are stored on disk and read once."""

    def __init__(self, corpora: Sequence[Corpus], folder: str) -> None:
        self.folder, self.names = folder, [corpus.name for corpus in corpora]
        self.short = Corpus.short()
        laid = [lay_out(corpus, os.path.join(folder, corpus.name)) for corpus in (*corpora, self.short)]
        sources = {label: [each.files(label) for each in laid] for label in LABELS}
        self.read = ReadMail.of(LABELS, LocalPool().batches(MailToRead(sources, Settings())))
        self.is_spam = self.read.truth == LABELS.index("spam")
        self.paths = [path for path, _ in self.read.names]
        self.corpus_of = np.array([path.split(os.sep)[-3] for path in self.paths])
        self.rank = np.argsort(in_time_order(self.read))

    def of(self, name: str) -> Array:
        return np.flatnonzero(self.corpus_of == name)

    def by_label(self, messages: Array, misfiled: Array = NOTHING) -> dict[str, list[str]]:
        """Return the paths of messages by label; those of `misfiled` are under the wrong label."""
        spam = self.is_spam[messages] ^ np.isin(messages, misfiled)
        found = ("ham", messages[~spam]), ("spam", messages[spam])
        return {label: [self.paths[message] for message in own] for label, own in found}

    def by_date(self, name: str) -> tuple[Array, Array]:
        """Return the earliest third of each label's messages, to be learned, and the others, to be judged."""
        own = self.of(name)
        return self.split(own[np.argsort(self.rank[own])], 1 / 3)

    def drawn(self, name: str, seed: int, count: int | None) -> tuple[Array, Array]:
        """Choose at random `count` messages of each label (None: half) to learn, and others to judge."""
        return self.split(np.random.default_rng(seed).permutation(self.of(name)), count or 0.5)

    def split(self, order: Array, learned: float) -> tuple[Array, Array]:
        """Split each label's messages: the first `learned` (a number or a share), and others to judge."""
        first, second = [], []
        for label in (False, True):
            own = order[self.is_spam[order] == label]
            count = int(learned) or int(learned * len(own))
            first.append(own[:count])
            second.append(own[count:][: JUDGED if learned >= 1 else None])
        return np.concatenate(first), np.sort(np.concatenate(second))

    def wrongly(self, messages: Array, shares: Sequence[float], seed: int) -> Array:
        """Choose at random the messages to misfile: these percentages (`shares`) of ham and of spam."""
        draw, spam = np.random.default_rng(seed), self.is_spam[messages]
        both = zip((messages[~spam], messages[spam]), shares, strict=True)
        return np.concatenate([draw.permutation(own)[: round(share / 100 * len(own))] for own, share in both])


class Ours:
    name = "spamnb"

    def __init__(self, mail: Mail) -> None:
        self.mail, self.pool = mail, LocalPool()
        self.whole = cache(self._whole)  # corpora

    def _whole(self, name: str) -> str:
        path = os.path.join(self.mail.folder, f"{name}.msgpack")
        train(path, self.mail.by_label(self.mail.of(name)), pool=self.pool)
        return path

    def learn(self, case: Case) -> str:
        """Learn the messages of a case; return the path of the model."""
        base = self.whole(case.base) if case.base else None
        if base and not len(case.learned):
            return base
        path = os.path.join(emptied(self.mail.folder, "model"), "model.msgpack")
        sources = self.mail.by_label(case.learned, case.misfiled)
        if not case.by_lessons:
            train(path, sources, ham_loss=case.ham_loss, base=base, pool=self.pool)
            return path
        create(path, base=base)
        for label, lessons in sources.items():
            for lesson in lessons:
                with open(lesson, "rb") as file:
                    learn(path, file.read(), label)
        return path

    def judge(self, case: Case) -> tuple[Array, Array]:
        """Learn the messages of a case; return scores and verdicts for those to be judged."""
        model = load_into_memory(Model.open(self.learn(case)))
        found = row_scores(model.scorers.first, self.mail.read.rows, case.judged)
        verdicts = [model.decide(score) for score in found]
        codes = [{"ham": HAM, "spam": SPAM}.get(verdict.label, UNSURE) for verdict in verdicts]
        return np.array([verdict.score for verdict in verdicts]), np.array(codes)


def emptied(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


class Theirs:
    name = "bogofilter"

    def __init__(self, mail: Mail) -> None:
        self.mail = mail
        self.whole = cache(self._whole)  # corpora

    def _whole(self, name: str) -> Bogofilter:
        folder = os.path.join(self.mail.folder, f"{name}.words")
        return self.learned(folder, self.mail.by_label(self.mail.of(name)))

    def learned(self, folder: str, mail: dict[str, list[str]]) -> Bogofilter:
        peer = Bogofilter(folder)
        for flag, label in (("-n", "ham"), ("-s", "spam")):
            Command(["bogofilter", "-C", "-d", folder, flag, "-b"], "\n".join(mail[label]).encode()).run()
        return peer

    def judge(self, case: Case) -> tuple[Array, Array]:
        if len(case.learned):
            mail = self.mail.by_label(case.learned, case.misfiled)
            peer = self.learned(emptied(self.mail.folder, "words"), mail)
        else:
            peer = self.whole(case.base)
        judged = peer.judge([self.mail.paths[message] for message in case.judged])
        return judged.score, judged.verdict


FILTERS: tuple[type[Ours | Theirs], ...] = (Ours, Theirs)


def short(mail: Mail, _draws: int) -> Cases:
    """Judge short mail from unknown senders, in ten languages."""
    judged = mail.of(mail.short.name)
    yield "short mail of strangers", (Case(name, NOTHING, judged, name) for name in mail.names)


def stream(mail: Mail, _draws: int) -> Cases:
    yield "the first third by date", (Case(name, *mail.by_date(name)) for name in mail.names)


def crossed(mail: Mail, _draws: int) -> Cases:
    pairs = itertools.permutations(mail.names, 2)
    yield "across corpora", (Case(f"{a} → {b}", NOTHING, mail.of(b), a) for a, b in pairs)


def first_week(mail: Mail, draws: int) -> Cases:
    for name in mail.names:
        cases = (Case(f"{n}", *mail.drawn(name, seed, n)) for n in LEARNED for seed in range(draws))
        yield f"{name}, the first week", cases


def on_base(mail: Mail, draws: int) -> Cases:
    """Learn a few messages, with a model of another corpus as base: at once, or one by one as a server."""

    def cases(base: str, own: str) -> Iterator[Case]:
        for seed in range(draws // 4):
            drawn = {count: mail.drawn(own, seed, count) for count in (LESSONS, *ON_BASE)}
            lessons, judged = drawn[LESSONS]
            yield Case("the base alone", NOTHING, judged, base)
            yield Case(f"{LESSONS} lessons", lessons, judged, base, by_lessons=True)
            yield from (Case(f"{count}", *drawn[count], base) for count in ON_BASE)

    for base, own in itertools.permutations(mail.names, 2):
        yield f"{own} on {base}", cases(base, own)


def ham_losses(mail: Mail, draws: int) -> Cases:
    """Judge with several values of --ham-loss, on half splits and by date."""
    for name in mail.names:
        halves = (("half", mail.drawn(name, seed, None)) for seed in range(draws // 4))
        splits = (*halves, ("by date", mail.by_date(name)))
        cases = (
            Case(f"{kind}, {loss:.2%}", *split, ham_loss=loss) for kind, split in splits for loss in LOSSES
        )
        yield f"{name}, --ham-loss", cases


def misfiled(mail: Mail, draws: int) -> Cases:
    """Learn some of the ham as spam, and some of the spam as ham."""

    def cases(name: str, count: int | None) -> Iterator[Case]:
        for shares, seed in itertools.product(MISFILED, range(draws // 2)):
            learned, judged = mail.drawn(name, seed, count)
            wrong = mail.wrongly(learned, shares, seed)
            yield Case("{:g} % of ham, {:g} % of spam".format(*shares), learned, judged, misfiled=wrong)

    for name, count in itertools.product(mail.names, MISFILED_OF):
        learned = f"{count} of each" if count else "half"
        yield f"{name}, {learned} learned, some misfiled", cases(name, count)


SECTIONS = {
    "short": short,
    "stream": stream,
    "crossed": crossed,
    "first-week": first_week,
    "on-base": on_base,
    "ham-losses": ham_losses,
    "misfiled": misfiled,
}
OURS_ONLY = on_base, ham_losses


def report(mail: Mail, names: Iterable[str], draws: int, filters: Sequence[Ours | Theirs]) -> Iterator[str]:
    """Yield the tables of some sections: means over draws, with a row for each case and filter."""
    for section in map(SECTIONS.__getitem__, names):
        for title, cases in section(mail, draws):
            found: dict[tuple[str, str], list[Figures]] = defaultdict(list)
            for case, each in itertools.product(cases, filters):
                drawn = found[case.name, each.name]
                if isinstance(each, Ours) or (section not in OURS_ONLY and len(drawn) < THEIR_DRAWS):
                    drawn.append(Figures.of(mail.is_spam[case.judged], *each.judge(case)))
            rows = [[*key, *row(own)] for key, own in found.items() if own]
            yield f"## {title}\n\n{table(['learned', 'filter', *COLUMNS], rows)}\n"


def row(draws: Sequence[Figures]) -> list[str]:
    lost, *others, auc_loss = np.mean(draws, axis=0)
    kept = sum(each.lost <= 100 * HAM_LOSS for each in draws)
    shown = figure(lost, 3), figure(max(each.lost for each in draws), 2), f"{kept} of {len(draws)}"
    return [*shown, *(figure(each, 1) for each in others), figure(auc_loss, 3)]
