"""Models to be attacked, and what they must hold afterwards: exactly some messages, none of them half."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from faults.operations import (
    BRIM,
    CROWD,
    FORGOTTEN,
    FULL,
    LESSONS,
    LONG,
    MAILBOXES,
    MODEL,
    MOVED,
    NOTED,
    NOTHING,
    ONE,
    Operation,
)
from helpers.learning import fold, train_bulk
from helpers.waiting import PATIENCE

from spamnb.core.native import hash_of_message, read
from spamnb.errors import Locked, NoModel
from spamnb.exchange.export import exported
from spamnb.lock import TRAINING, WRITING, Lock
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

ENDINGS = ("", ".journal", ".lock", ".training", ".new", ".journal.new")
ENVELOPE = b"From a@example.org Mon Nov 15 01:02:03 2027\n"
# The program as it was some time ago: what is trained with it can be pruned.
LONG_AGO = """
import os, sys, time
os.environ["SOURCE_DATE_EPOCH"] = str(int(time.time()) - 300 * 86400)
from spamnb.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True)
class State:
    """What a model holds, file and journal as one, the days left out: a run may see midnight."""

    learned: dict[str, str]  # digest: label
    counts: Any
    rest: Any  # scores, cutoffs, settings: they depend on the order in which messages came


NONE = State({}, None, None)
STATES: dict[tuple[bytes, ...], State] = {}


def state(path: str) -> State:
    """What a model holds, which is looked at once for the same bytes."""
    files = tuple(Path(path + name).read_bytes() for name in ENDINGS[:2] if os.path.exists(path + name))
    if files not in STATES:
        STATES[files] = read_state(path)
    return STATES[files]


def read_state(path: str) -> State:
    """Checksums and all are looked at; a model that is not there holds nothing."""
    try:
        line, *lines = exported(path)
    except NoModel:
        return NONE
    head = json.loads(line)
    rows = [line.split("\t") for line in lines]
    labels = head.pop("labels")
    head["base"] = "base" in head  # its path is another at each place
    numbers = {name: sums for name, sums in head.pop("numbers").items() if any(n for n, _, _ in sums)}
    counts = (
        labels,
        head.pop("messages"),
        numbers,
        sorted(row[3:] for row in rows if row[0] == "t"),
        sorted(row[3:] for row in rows if row[0] == "p"),  # whose fingerprints may be a model's own
    )
    said = [row[1:] for row in rows if row[0] == "m"]
    learned = {name: labels[int(place)] for name, place, *_ in said}
    return State(learned, counts, (head, {name: scores for name, _, *scores in said}))


def named(raw: bytes) -> str:
    return f"{hash_of_message(read(raw)):016x}"


@cache
def everything() -> dict[str, bytes]:
    """Every message there is, by its digest."""
    mail = [raw for _, many in MAILBOXES.values() for raw in many]
    return {named(raw): raw for raw in [*mail, *NOTED, *FULL, *LESSONS, *CROWD, ONE, LONG]}


def counted(learned: dict[str, str]) -> Any:
    """The counts of a model trained at once on some messages."""
    return _counted(frozenset(learned.items()))


@lru_cache(200)
def _counted(learned: frozenset[tuple[str, str]]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        mail = [(everything()[name], label) for name, label in learned]
        return state(train_bulk(folder, mail)).counts


class World:
    """The program, mail, and models to begin with. `run` is for what is not attacked."""

    def __init__(self, folder: str | os.PathLike[str], run: Any) -> None:
        self.folder = Path(folder)
        self.run = run
        self.mail = self.folder / "mail"
        self.mail.mkdir()
        self.places = 0
        self.starts: dict[str, State] = {}
        self.answers: dict[Operation, bytes] = {}
        self.undisturbed: dict[Operation, tuple[State, float]] = {}
        for name, (_, mail) in MAILBOXES.items():
            (self.mail / name).write_bytes(b"".join(ENVELOPE + raw + b"\n" for raw in mail))
        for name in (NOTHING, MODEL, BRIM):
            (self.folder / name).mkdir()
        model = str(self.folder / MODEL / "model")
        first = [str(self.mail / f"first.{label}") for label in ("ham", "spam")]
        self.run.run([sys.executable, "-c", LONG_AGO, "train", "--model", model, *first]).succeeds()
        shutil.copy(model, self.mail / "first.model")
        for raw, label in {**NOTED, MOVED: "ham", FORGOTTEN: None}.items():
            learn(model, raw, label)
        brim = str(self.folder / BRIM / "model")
        for ending in ("", ".journal"):
            shutil.copy(model + ending, brim + ending)
        for raw, label in FULL.items():
            learn(brim, raw, label)
        later = [str(self.mail / name) for name in ("later.model", "later.ham", "later.spam")]
        self.run("train", "--model", *later).succeeds()
        (self.mail / "words.txt").write_bytes(b".MSG_COUNT 20 10\nfree 9 1\nagenda 0 7\n")

    @cached_property
    def environment(self) -> dict[str, str]:
        return self.run.environment | {"PYTHONDONTWRITEBYTECODE": "1"}  # nothing but the model is written

    def place(self, operation: Operation, root: Path | None = None) -> str:
        """A new folder with the model that an operation begins with; the path of that model."""
        self.places += 1
        folder = (root or self.folder) / f"place{self.places}"
        shutil.copytree(self.folder / operation.start, folder)
        return str(folder / "model")

    def arguments(self, operation: Operation, model: str) -> list[str]:
        words = operation.command.format(model=model, mail=self.mail).split()
        return words if "{model}" in operation.command else [words[0], "--model", model, *words[1:]]

    def command(self, operation: Operation, model: str) -> list[str]:
        return [self.run.program, *self.arguments(operation, model)]

    def again(self, operation: Operation, model: str) -> State:
        """The command once more, with nothing in its way, and what it started aside; the model then."""
        self.run(*self.arguments(operation, model), stdin=operation.stdin).succeeds()
        settle(model)
        fold(model)
        return state(model)

    def before(self, operation: Operation) -> State:
        if operation.start not in self.starts:
            self.starts[operation.start] = state(str(self.folder / operation.start / "model"))
        return self.starts[operation.start]

    def after(self, operation: Operation) -> State:
        return self.measured(operation)[0]

    def measured(self, operation: Operation) -> tuple[State, float]:
        """The model as an operation leaves it that nothing disturbs, and how long that took."""
        if operation not in self.undisturbed:
            model = self.place(operation)
            begun = time.monotonic()
            done = self.run.afresh(*self.arguments(operation, model), stdin=operation.stdin)
            done.succeeds()
            took = time.monotonic() - begun
            begun = time.monotonic()
            settle(model)
            if operation.aside:
                took = time.monotonic() - begun
                assert not StoredModel.open(model).journal.records, "it started nothing aside"
            fold(model)
            after = state(model)
            assert after.counts != self.before(operation).counts
            self.undisturbed[operation] = after, took
            self.leave(model)
        return self.undisturbed[operation]

    def answer(self, operation: Operation, model: str) -> bytes:
        """What an operation says of a model that nothing disturbs and that changes nothing."""
        first = str(self.folder / operation.start / "model")
        if operation not in self.answers:
            done = self.run(*self.arguments(operation, first), stdin=operation.stdin)
            self.answers[operation] = done.succeeds().out
        return self.answers[operation].replace(first.encode(), model.encode())

    def brought_here(self, model: str) -> str:
        """A model from another disk."""
        folder = os.path.dirname(model)
        here = shutil.copytree(folder, self.folder / os.path.basename(folder))
        self.leave(model)
        return str(here / "model")

    def leave(self, model: str) -> None:
        shutil.rmtree(os.path.dirname(model))


def settle(model: str) -> None:
    """Until nobody is at a model; a lock that a dead process left would stay for ever."""
    for kind in (TRAINING, WRITING):
        try:
            with Lock(model, PATIENCE, kind):
                pass
        except Locked:
            raise AssertionError(f"{model}{kind}: still held after {PATIENCE} s") from None


def session_of(process: int) -> list[int]:
    """The processes that are still there of a session."""
    found = {name: data.decode().rpartition(")")[2].split() for name, data in processes("stat").items()}
    return [name for name, fields in found.items() if int(fields[3]) == process and fields[0] not in "ZX"]


def naming(path: str) -> list[int]:
    """The processes that were started with an argument."""
    return [name for name, data in processes("cmdline").items() if path.encode() in data.split(b"\0")]


def processes(what: str) -> dict[int, bytes]:
    """What Linux tells of each process that there is."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found[int(name)] = Path("/proc", name, what).read_bytes()
    return found


@dataclass(frozen=True)
class Ended:
    """A program that has."""

    code: int
    out: bytes
    err: str


def ended(command: list[str], stdin: bytes, folder: Path | str, **options: Any) -> Ended:
    process = start(command, stdin, folder, **options)
    try:
        code = process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
    return Ended(code, Path(folder, "out").read_bytes(), Path(folder, "err").read_text())


def start(command: list[str], stdin: bytes, folder: Path | str, **options: Any) -> subprocess.Popen[bytes]:
    """A process whose input and output are files in a folder: in, out, err."""
    Path(folder, "in").write_bytes(stdin)
    names = [os.path.join(folder, name) for name in ("in", "out", "err")]
    with open(names[0], "rb") as given, open(names[1], "wb") as out, open(names[2], "wb") as err:
        return subprocess.Popen(command, stdin=given, stdout=out, stderr=err, **options)
