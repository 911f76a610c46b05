"""What is done to a model while something goes wrong: commands, and the mail they take."""

from __future__ import annotations

import random
from dataclasses import dataclass

MANY = 40  # messages of each label in each mailbox
WORDS = {
    "ham": "agenda budget draft lunch meeting minutes project review schedule thanks tuesday patch".split(),
    "spam": "bonus casino cheap click free loan offer pills prize viagra winner unsubscribe".split(),
}


def letter(label: str, number: int, rare: int = 20) -> bytes:
    """A message with so many words that no other has, and some that many have."""
    chance = random.Random(f"{label} {number}")
    common = chance.choices(WORDS[label], k=25) + chance.choices(WORDS["ham"] + WORDS["spam"], k=10)
    own = [f"{label}{number}x{count}" for count in range(rare)]
    text = " ".join(chance.sample(common + own, k=len(common) + rare))
    head = f"From: {label}@example.org\nSubject: {chance.choice(WORDS[label])} {number}\n"
    return f"{head}Date: Mon, 15 Nov 2027 10:{number % 60:02}:00 +0100\n\n{text}\n".encode()


def letters(label: str, first: int) -> list[bytes]:
    return [letter(label, number) for number in range(first, first + MANY)]


# The mailboxes that commands name, and the messages that come one at a time.
MAILBOXES = {
    f"{name}.{label}": (label, letters(label, first))
    for name, first in (("first", 0), ("later", 1000))
    for label in ("ham", "spam")
}
ONE = letter("spam", 2000)
LONG = letter("spam", 2001, rare=1500)  # a record of some 50 KB
NOTED = {
    letter(label, number): label for label in ("ham", "spam") for number in range(3000, 3004)
}  # a journal
FULL = {letter("ham", number, rare=500): "ham" for number in range(4000, 4020)}  # one nearly full
LESSONS = [letter("spam", number) for number in range(5000, 5040)]  # learned while something else goes on
CROWD = [letter("spam", number) for number in range(6000, 6064)]  # learned by many at once
KNOWN, MOVED, FORGOTTEN = (letter("spam", number) for number in (1, MANY - 1, MANY - 2))  # in first.spam

# No model; one with a journal; one whose journal is full.
NOTHING, MODEL, BRIM = "nothing", "model", "brim"


@dataclass(frozen=True)
class Operation:
    """A command line, in which {model} and {mail} stand for paths. `start`: what is there before.

    In {mail}: the mailboxes, words.txt, and two models, first.model and later.model.
    """

    command: str
    start: str = MODEL
    stdin: bytes = b""
    aside: bool = False  # it leaves the work to a process that nobody waits for
    changes: bool = True
    counts_mail: bool = True  # the counts after it are those of the messages: not once some were pruned

    @property
    def only_adds(self) -> bool:
        """What others learn meanwhile is in the model at last, whenever that was."""
        return self.start != NOTHING and self.counts_mail and "--fresh" not in self.command


WRITING = {
    "train a first model": Operation("train --jobs 2 {mail}/first.ham {mail}/first.spam", NOTHING),
    "train more": Operation("train --jobs 2 {mail}/later.ham {mail}/later.spam"),
    "train in runs": Operation("train --memory 1M --jobs 2 {mail}/later.ham {mail}/later.spam"),
    "train --fresh": Operation("train --fresh --jobs 2 {mail}/later.ham {mail}/later.spam"),
    "forget many": Operation("forget --jobs 2 {mail}/first.ham {mail}/first.spam"),
    "learn a first message": Operation("train --spam -", NOTHING, ONE),
    "learn": Operation("train --spam -", stdin=ONE),
    "move": Operation("train --ham -", stdin=KNOWN),
    "forget": Operation("forget -", stdin=KNOWN),
    "fold": Operation("train --spam -", BRIM, LONG, aside=True),
    "prune": Operation("prune", counts_mail=False),
    "import": Operation("import --fresh {mail}/words.txt"),
    "merge": Operation("merge --fresh {model} {mail}/first.model {mail}/later.model"),
}
READING = {
    "classify": Operation("classify", stdin=ONE, changes=False),
    "classify -p": Operation("classify -p", stdin=LONG, changes=False),
    "classify many": Operation("classify --jobs 2 {mail}/later.ham", changes=False),
    "export": Operation("export", changes=False),
    "inspect": Operation("inspect --json", changes=False),
}
