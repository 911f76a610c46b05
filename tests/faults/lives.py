"""One model through many commands, most of them killed; whatever a kill leaves, the next has to cope with."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from random import Random

from faults.kills import ACKNOWLEDGED, ALL, PROCESS, strike, strike_aside
from faults.operations import LESSONS, MAILBOXES, NOTHING, Operation
from faults.worlds import State, World, counted, named, settle, start, state
from helpers.waiting import PATIENCE

LABELS = ("ham", "spam")
NEVER = 0.2  # of the commands are left alone
AT_THE_FOLD = 0.3  # and so often is the process killed that folds the journal, if there is one
# The program, with a journal that is folded after every few messages.
FOLDING = """
import sys
from spamnb.store import journal
from spamnb.start import main
journal.FOLD_LIMIT = 10_000
sys.exit(main())
"""


class Life:
    """A model, and what must be in it."""

    def __init__(self, world: World, chance: Random) -> None:
        self.world = world
        self.chance = chance
        self.model = world.place(Operation("", NOTHING))
        self.known: dict[str, str] = {}  # digest: label

    def step(self) -> bool:
        """One command more. Whether it was killed."""
        operation, after = self.chance.choice([self.a_lesson, self.a_lesson, self.a_run])()
        folder = os.path.dirname(self.model)
        command = [sys.executable, "-c", FOLDING, *self.world.arguments(operation, self.model)]
        process = start(command, operation.stdin, folder, env=self.world.environment, start_new_session=True)
        try:
            if self.chance.random() > NEVER:
                time.sleep(self.chance.uniform(0, 0.1 if operation.stdin else 0.4))
                strike(process, self.chance.choice([PROCESS, ALL]), self.chance)
            code = process.wait(PATIENCE)
            if self.chance.random() < AT_THE_FOLD:
                strike_aside(self.model, self.chance.uniform(0, 0.3))
        finally:
            process.kill()
            process.wait()
        if "forget" in operation.command and not Path(self.model).exists():
            assert code in (75, -signal.SIGKILL)  # there is no model yet
            return code != 75
        assert code in (0, -signal.SIGKILL), Path(folder, "err").read_text()
        settle(self.model)
        now = state(self.model)
        said = any(word in Path(folder, "out").read_bytes() for word in ACKNOWLEDGED)
        allowed = [after] if said or code == 0 else [self.known, after]
        assert now.learned in allowed
        assert now.counts is None or now.counts == counted(now.learned)
        self.known = now.learned
        return code != 0

    def a_lesson(self) -> tuple[Operation, dict[str, str]]:
        """A message is learned, moved or forgotten."""
        raw, label = self.chance.choice(LESSONS), self.chance.choice(LABELS)
        if self.chance.random() < 0.2:
            return Operation("forget -", stdin=raw), without(self.known, [raw])
        return Operation(f"train --{label} -", stdin=raw), {**self.known, named(raw): label}

    def a_run(self) -> tuple[Operation, dict[str, str]]:
        """A mailbox is learned or forgotten."""
        name, (_, mail) = self.chance.choice(list(MAILBOXES.items()))
        label = self.chance.choice(LABELS)
        if self.chance.random() < 0.4:
            return Operation(f"forget --jobs 2 {{mail}}/{name}"), without(self.known, mail)
        learned = {named(raw): label for raw in mail}
        return Operation(f"train --yes --jobs 2 --{label} {{mail}}/{name}"), {**self.known, **learned}

    def end(self) -> State:
        settle(self.model)
        now = state(self.model)
        self.world.leave(self.model)
        return now


def without(known: dict[str, str], mail: list[bytes]) -> dict[str, str]:
    gone = {named(raw) for raw in mail}
    return {name: label for name, label in known.items() if name not in gone}
