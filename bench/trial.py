"""Measure what each rule of the tokenizer contributes: results without it, on each corpus and under attack.

Run by `make ablation`; rules.py has the rules and their switches. The columns of the table are how much
(1-AUC)% rises if a rule is left out (the mean over ten splits, and its standard error), for

- the SpamAssassin corpus: half is learned, the other half judged;
- each corpus of --corpus: its bodies alone, a tenth of them learned, since more would leave no errors; and
  all of it, judged after half of the SpamAssassin corpus is learned;
- each corpus of --bodies, without headers, in halves: its spam, its own ham and that of all other corpora;

then the share of each corpus that is read differently without the rule (a small share can gain little), and
the attack (attacks.py) that gains most without the rule: its spam caught, if 0.5 % of the ham is lost.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import attacks
import numpy as np
from rules import CHANGES, TOKENS, Change

from corpora import LABELS, write_mbox
from corpora import Corpus as RawCorpus
from spamnb import train
from spamnb.bayes.likelihood import Likelihood
from spamnb.core.native import (
    BODY,
    COUNTERS,
    HEAD,
    CountTable,
    FeatureScorer,
    FeatureSet,
    MessageRows,
    Tokenizer,
    read,
)
from spamnb.core.native import part_of as part_of_counter
from spamnb.evaluation.intervals import misplaced_shares
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import messages as messages_of
from spamnb.model import DEFAULT_VIEW, Model
from spamnb.reading.settings import Settings

ROOT = Path(__file__).parent.parent
SPLITS = 10
HAM_LOST = 0.005
# Headers that give a corpus away: of the filter that sorted it.
GIVEAWAYS = r"(?:header:)?x-(?:barracuda|microsoft-antispam|ms-exchange|forefront)[^:]*(?::.*)?"
PLAIN = "the default"
MIXER, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
LAID_OUT = ("attack ", "forged ", "learned", "other", "today")


@dataclass(frozen=True)
class ReadMessage:
    """The features of a message, as arrays."""

    tokens: Any  # [token, (fingerprint, times, part)]
    pairs: Any  # [pair, (fingerprint, part)]
    grams: Any  # counters

    @classmethod
    def of(cls, features: FeatureSet) -> ReadMessage:
        tokens = np.array(features.tokens, np.uint64).reshape(-1, 3)
        pairs = np.array(features.pairs, np.uint64).reshape(-1, 2)
        return cls(tokens, pairs, np.array(features.grams, np.uint32))

    def without(self, dropped: Any) -> ReadMessage:
        """Return the message without some tokens, given by their sorted fingerprints."""
        found = self.tokens[:, 0]
        places = np.searchsorted(dropped, found)  # np.isin would sort `dropped` for each message
        is_dropped = np.append(dropped, dropped.dtype.type(0))[places] == found
        return ReadMessage(self.tokens[~is_dropped], self.pairs, self.grams)

    def features(self, is_body_counter: Any, bodies: bool) -> FeatureSet:
        tokens, pairs, grams = self.tokens, self.pairs, self.grams
        if bodies:
            tokens, pairs = tokens[tokens[:, 2] == BODY], pairs[pairs[:, 1] == BODY]
            grams = grams[is_body_counter[grams]]
        return FeatureSet.of(tokens.tolist(), None, pairs.tolist(), grams.tolist())

    def marks(self, is_body_counter: Any) -> list[int]:
        """Return two hashes: of the features of the body, and of the features of the headers."""
        sums = []
        for part in (BODY, HEAD):
            own = [self.tokens[self.tokens[:, 2] == part, 0], self.pairs[self.pairs[:, 1] == part, 0]]
            counters = self.grams[is_body_counter[self.grams] == (part == BODY)].astype(np.uint64)
            own.append((counters + np.uint64(1)) * np.uint64(MIXER))
            sums.append(int(sum(int(each.sum(dtype=np.uint64)) for each in own) & MASK))
        return sums


def lay_out_attacks(folder: str, most: int) -> None:
    """Write mailboxes: halves of the SpamAssassin corpus, also as mail of today, and each attack on spam."""
    learned, other = RawCorpus.spamassassin().halves(1)
    forgeries = attacks.Forgeries()
    today = {label: [forgeries.of_today(raw, label) for raw in learned.of(label)] for label in LABELS}
    other_today = [forgeries.findings(raw, 0.995) + raw for raw in other.ham]
    laid = {"learned": learned, "other": other, "today": RawCorpus("", **today)}
    for name, corpus in laid.items():
        for label in LABELS:
            write_mbox(os.path.join(folder, f"{name}.{label}"), corpus.of(label))
    write_mbox(os.path.join(folder, "other-today.ham"), other_today)
    path = os.path.join(folder, "model.msgpack")
    train(path, {label: [os.path.join(folder, f"learned.{label}")] for label in LABELS})
    mails = [mail for mail in map(attacks.Mail, other.spam) if len(mail.words) >= 20][:most]
    hams = list(map(attacks.Mail, other.ham))
    for mail, ham_mail in zip(mails, hams, strict=False):  # only the body can be evidence of spam
        mail.head = ham_mail.head
    ham = [" ".join(mail.words[:120]) for mail in hams if len(mail.words) >= 60]
    of_today = forgeries.attacks(hams)
    for name, attack in {**attacks.attacks(Model.open(path), ham), **of_today}.items():
        kind = "forged" if name in of_today else "attack"
        write_mbox(os.path.join(folder, f"{kind} {name.replace('/', ' ')}.spam"), map(attack, mails))


class Measured:
    """All mail as one tokenizer reads it, and the results measured with it."""

    def __init__(self, sources: dict[str, dict[str, list[str]]], bodies: list[str], known: str) -> None:
        self.known = known  # a folder
        paths: dict[str, list[str]] = {label: [] for label in LABELS}
        for source in sources.values():
            for label in LABELS:
                paths[label] += [path for path in source.get(label, []) if path not in paths[label]]
        self.texts: dict[int, str] = {}  # of tokens, by their fingerprints
        self.names, self.messages, truth = self._read(paths)
        self.truth = np.array(truth)
        self.of: dict[str, Any] = {}
        for name, source in sources.items():
            roots = tuple(path for label in LABELS for path in source.get(label, []))
            self.of[name] = np.array([one.startswith(roots) for one in self.names])
        self.bodies = bodies
        self.dropped = self._matching(GIVEAWAYS)
        parts = np.array([part_of_counter(counter) for counter in range(COUNTERS)])
        self.is_body_counter = parts == BODY

    def _read(self, paths: dict[str, list[str]]) -> tuple[list[str], list[ReadMessage], list[int]]:
        """Read all mail; return the names, the features of each message, and the indices of the labels."""
        names, found, truth, tokenizer = [], [], [], Tokenizer(Settings())
        for label in LABELS:
            for raw in messages_of(paths[label]):
                if not isinstance(raw, Unreadable):
                    features = tokenizer.features(read(raw.data), numbers=False)
                    self.texts.update(features.texts)
                    names.append(raw.path)
                    found.append(ReadMessage.of(features))
                    truth.append(LABELS.index(label))
        return names, found, truth

    def _matching(self, pattern: str) -> Any:
        """Return the fingerprints of the tokens that match a pattern, sorted."""
        match = re.compile(pattern, re.DOTALL).fullmatch
        return np.array(sorted(key for key, text in self.texts.items() if match(text)), np.uint64)

    def figures(self, rule: str) -> dict[str, Any]:
        """Return the results without a rule: for each corpus and split, and for each attack."""
        dropped = self._matching(TOKENS[rule]) if rule in TOKENS else self.dropped[:0]
        dropped = np.union1d(self.dropped, dropped)
        self.kept = [message.without(dropped) for message in self.messages]
        marks = [message.marks(self.is_body_counter) for message in self.kept]
        self.marks = np.array(marks, np.uint64).T  # [part, message]
        found: dict[str, Any] = {}
        spam = self.truth == 1
        ordinary = [name for name in self.of if not name.startswith(LAID_OUT)]
        first, *others = [name for name in ordinary if name not in self.bodies]
        found[first] = self.splits(self.of[first], 0.5)
        for name in others:
            found[f"{name}, bodies"] = self.splits(self.of[name], 0.1, bodies=True)
            both, tested = self.of[first] | self.of[name], self.of[name]
            found[f"{first} → {name}"] = self.splits(both, 0.5, tested=tested)
        all_ham = np.any([self.of[name] for name in ordinary], axis=0) & ~spam
        for name in self.bodies:
            found[f"{name}, bodies"] = self.splits(all_ham | (self.of[name] & spam), 0.5, bodies=True)
        found["attacks"] = {
            **self.caught("attack ", self.of["learned"], self.of["other"] & ~spam),
            **self.caught("forged ", self.of["today"], self.of["other-today"]),
        }
        found["concerned"] = {name: self.concerned(rule, name) for name in ordinary}
        return found

    def concerned(self, rule: str, name: str) -> float:
        """Return the percentage of a corpus's messages whose features are different without a rule."""
        found = self.marks_of(np.flatnonzero(self.of[name]), name in self.bodies)
        path = Path(self.known, f"{name}.npy")
        if rule == PLAIN:
            np.save(path, found)
        return 100 * float(np.mean(found != np.load(path)))

    def marks_of(self, messages: Any, bodies: bool) -> Any:
        """Return a hash of each message's features."""
        return self.marks[BODY, messages] if bodies else self.marks[:, messages].sum(axis=0)

    def splits(self, mask: Any, share: float, bodies: bool = False, tested: Any = None) -> list[float]:
        """Learn a random share of the messages, test others (or `tested`); return (1-AUC)% of each split."""
        messages = np.flatnonzero(mask)

        def measure() -> list[float]:
            rows, truth, found = self.rows_of(messages, bodies), self.truth[messages], []
            for seed in range(SPLITS):
                learned = np.random.default_rng(seed).random(len(messages)) < share
                others = ~learned if tested is None else tested[messages]
                score = scores(rows, truth, learned & ~others, others)
                misplaced, _ = misplaced_shares(truth[others] == 1, score)
                found.append(100 * float(misplaced.mean()))
            return found

        trial = f"{share} {tested is None}"
        found: list[float] = self.once(trial, self.marks_of(messages, bodies), measure)
        return found

    def caught(self, kind: str, learned: Any, ham: Any) -> dict[str, float]:
        """Return, for each attack, the percentage of its messages that is caught."""
        names = [name for name in self.of if name.startswith(kind)]
        messages = np.flatnonzero(learned | ham | np.any([self.of[name] for name in names], axis=0))
        tested = messages[~learned[messages]]

        def measure() -> dict[str, float]:
            rows, truth = self.rows_of(messages, False), self.truth[messages]
            score = scores(rows, truth, learned[messages], ~learned[messages])
            cutoff = np.quantile(score[ham[tested]], 1 - HAM_LOST)
            shares = {name: np.mean(score[self.of[name][tested]] > cutoff) for name in names}
            return {name.removeprefix(kind): 100 * float(share) for name, share in shares.items()}

        found: dict[str, float] = self.once(kind, self.marks_of(messages, False), measure)
        return found

    def rows_of(self, messages: Any, bodies: bool) -> MessageRows:
        """Return the rows of messages, without their headers if `bodies`."""
        chosen = [self.kept[message] for message in messages.tolist()]
        return MessageRows.of([message.features(self.is_body_counter, bodies) for message in chosen])

    def once(self, trial: str, marks: Any, measure: Callable[[], Any]) -> Any:
        """Return a trial's result: from the cache if all features (`marks`) are known, else by `measure`."""
        seen = blake2b(trial.encode() + marks.tobytes())
        path = Path(self.known, seen.hexdigest()[:20])
        if not path.exists():
            new = path.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(measure()))
            new.replace(path)  # at once, as other processes look for it
        return json.loads(path.read_text())


def scores(rows: MessageRows, truth: Any, learned: Any, tested: Any) -> Any:
    """Return the lead of spam in the tested messages."""
    table, messages = CountTable(LABELS), np.flatnonzero(learned)
    table.add(rows, messages, truth[messages], 0)
    joints = np.empty((np.count_nonzero(tested), len(LABELS)))
    FeatureScorer(Likelihood(table, DEFAULT_VIEW), table).score_rows(rows, np.flatnonzero(tested), joints)
    return joints[:, 1] - joints[:, 0]


def changed_copy(folder: str, rule: str) -> str:
    """Copy the package without a rule, by changing the source; compile the core if that is changed."""
    change: Change | None = CHANGES[rule]
    target = Path(folder, "package")
    target.mkdir()
    subprocess.run(["cp", "-a", ROOT / "spamnb", ROOT / "hatch_build.py", target], check=True)
    while change:
        module = target / "spamnb" / change.module
        module.write_text(change.changed(module.read_text()))
        change = change.other
    compiling = [sys.executable, "hatch_build.py"]
    subprocess.run(compiling, cwd=target, check=True, stdout=subprocess.DEVNULL)
    return str(target)


def cell(figures: list[float], before: list[float]) -> str:
    """Return, as text, how much the mean of a figure rises without a rule, and the standard error."""
    added = np.array(figures) - before
    return f"{added.mean():+.4f} ± {added.std(ddof=1) / len(added) ** 0.5:.4f}"


def row(rule: str, found: dict[str, Any], before: dict[str, Any]) -> str:
    """Return a line of the table; it names the attack that gains most without the rule, if any gains."""
    caught, without = before["attacks"], found["attacks"]
    attack = min(caught, key=lambda name: without[name] - caught[name])
    said = (
        f"{attack}: {caught[attack]:.0f} → {without[attack]:.0f} %"
        if without[attack] < caught[attack]
        else ""
    )
    cells = [cell(found[name], before[name]) for name in corpora_of(found)]
    shares = " / ".join([f"{share:.1f}" for share in found["concerned"].values()])
    return f"| {' | '.join([rule, *cells, shares, said])} |"


def corpora_of(found: dict[str, Any]) -> list[str]:
    """Return the names of the corpora that have figures, without the attacks."""
    return [name for name in found if name not in ("attacks", "concerned")]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--corpus", action="append", default=[], metavar="NAME=HAM,SPAM")
    options.add_argument("--bodies", action="append", default=[], metavar="NAME=HAM,SPAM")
    options.add_argument("--seeds", help="for ablation.py")
    options.add_argument("--most", type=int, default=150, help="spam attacked")
    options.add_argument("--only", default="", help="rules whose name contains this")
    options.add_argument("--laid-out", help=argparse.SUPPRESS)
    options.add_argument("--rule", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.rule:
        bodies = [text.partition("=")[0] for text in chosen.bodies]
        measured = Measured(sources(chosen), bodies, chosen.laid_out)
        print(json.dumps(measured.figures(chosen.rule)))
        return
    with tempfile.TemporaryDirectory() as folder:
        chosen.laid_out = os.path.join(folder, "mail")
        os.mkdir(chosen.laid_out)
        lay_out_attacks(chosen.laid_out, chosen.most)
        run(chosen, folder)


def run(chosen: argparse.Namespace, folder: str) -> None:
    rules = [rule for rule in (*TOKENS, *CHANGES) if chosen.only in rule]
    before = without(chosen, folder, PLAIN)
    names = corpora_of(before)
    plain = [f"{np.mean(before[name]):.4f}" for name in names]
    concerned = f"% of {' / '.join(before['concerned'])}"
    print(f"| without | {' | '.join(names)} | {concerned} | attacks |\n" + "|---" * (len(names) + 3) + "|")
    print(f"| {PLAIN} | {' | '.join(plain)} | | |", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rule, found in zip(rules, pool.map(partial(without, chosen, folder), rules), strict=True):
            print(row(rule, found, before), flush=True)


def without(chosen: argparse.Namespace, folder: str, rule: str) -> dict[str, Any]:
    """Return the results without a rule, measured by another process; it may use a changed package."""
    with tempfile.TemporaryDirectory(dir=folder) as copy:
        package = changed_copy(copy, rule) if rule in CHANGES else str(ROOT)
        arguments = [f"--rule={rule}", f"--laid-out={chosen.laid_out}"]
        arguments += [f"--corpus={text}" for text in chosen.corpus]
        arguments += [f"--bodies={text}" for text in chosen.bodies]
        environment = {**os.environ, "PYTHONPATH": package}
        command = [sys.executable, __file__, *arguments]
        found: dict[str, Any] = json.loads(subprocess.check_output(command, env=environment))
    return found


def sources(chosen: argparse.Namespace) -> dict[str, dict[str, list[str]]]:
    """Return the paths of each corpus and attack by label."""
    laid = {name: os.path.join(chosen.laid_out, name) for name in sorted(os.listdir(chosen.laid_out))}
    found: dict[str, dict[str, list[str]]] = {
        "spamassassin": {
            label: [laid[f"{half}.{label}"] for half in ("learned", "other")] for label in LABELS
        }
    }
    for text in chosen.corpus + chosen.bodies:
        name, _, paths = text.partition("=")
        ham, _, spam = paths.partition(",")
        found[name] = {"ham": [ham], "spam": [spam]}
    for name, path in laid.items():
        stem, _, label = name.rpartition(".")
        if label in LABELS:
            found.setdefault(stem, {})[label] = [path]
    return found


if __name__ == "__main__":
    main()
