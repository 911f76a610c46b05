"""Calls of the program that fail, as on a disk that is full, broken or read-only; and what it says then."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from faults import straced
from faults.disks import Disk
from faults.operations import NOTHING, Operation
from faults.worlds import Ended, World, ended, settle, state

ERRORS = {
    "open": ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE"),
    "read": ("EIO",),
    "pread": ("EIO",),
    "write": ("ENOSPC", "EDQUOT", "EIO"),
    "truncate": ("EIO", "EROFS"),
    "sync": ("EIO", "ENOSPC", "EDQUOT"),
    "rename": ("ENOSPC", "EIO", "EROFS"),
    "unlink": ("EIO", "EROFS"),
    "lock": ("ENOLCK", "EIO"),
}
# The exit codes of sysexits.h: what cannot be opened is missing or cannot be made; reading fails half-way,
# and so does writing to standard output; writing the model does not succeed, for which it is read again.
CANNOT_CREATE = (73,)
CODES = {
    "open": (66, 73, 74),
    **dict.fromkeys(("read", "pread", "write"), (73, 74)),
    **dict.fromkeys(("truncate", "sync", "rename", "unlink", "lock"), CANNOT_CREATE),
}
NOTHING_DONE = ("not learned", "cannot write the model", "cannot lock")


def at_each_call(
    world: World, operation: Operation, call: str, chance: Random, most: int | None = None
) -> int:
    """Let the first call of a kind fail, then the second and so on, once or from then on. How many did."""
    times = 0
    for number in straced.spread(straced.calls(world, operation)[call], most):
        when = chance.choice([f"{number}+", f"{number}"])
        times += fail(world, operation, call, chance.choice(ERRORS[call]), when)
    return times


def fail(world: World, operation: Operation, call: str, error: str, when: str) -> bool:
    """One run with a fault, and what must be true after it; False if the fault did not come."""
    model = world.place(operation)
    before = contents(model)
    done, struck = straced.run(world, operation, model, call, f"error={error}", when)
    if struck:
        said = f"{error} at {call} {when}: {done.code} {done.err!r}"
        check(world, operation, model, before, done, CODES[call], said)
    else:
        assert done.code == 0, done.err
    world.leave(model)
    return bool(struck)


def without_room(world: World, operation: Operation, disk: Disk, room: int) -> Ended:
    """One run on a disk with so many bytes free, and what must be true after it."""
    model = world.place(operation, disk.folder)
    before = contents(model)
    disk.fill(room)
    done = attempt(world, operation, disk.inside(model), *disk.prefix)
    disk.empty()
    settle(model)
    model = world.brought_here(model)  # where there is room to do it once more
    check(world, operation, model, before, done, CANNOT_CREATE, f"{room}: {done}")
    world.leave(model)
    return done


def attempt(world: World, operation: Operation, model: str, *prefix: str, **options: Any) -> Ended:
    """One run where writing may fail for real; its streams are elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*prefix, *world.command(operation, model)]
        return ended(command, operation.stdin, folder, env=world.environment, cwd="/", **options)


def check(
    world: World,
    operation: Operation,
    model: str,
    before: tuple[bytes | None, bytes | None],
    done: Ended,
    codes: tuple[int, ...],
    said: str,
) -> None:
    """It says what is wrong and the model is as it was, or it is done; and it can be done once more."""
    said_clearly(done, codes, said)
    settle(model)
    left = [name for name in os.listdir(os.path.dirname(model)) if name.endswith(".new")]
    assert not left or " unlink " in said, said
    if not operation.changes:
        assert contents(model) == before, said
        answer = world.answer(operation, model)
        assert answer.startswith(done.out), said
        assert done.code or done.out == answer, said
        return
    now, after = state(model), world.after(operation)
    intact = now == world.before(operation) and contents(model)[0] == before[0]
    intact |= operation.start == NOTHING and not now.learned  # a new model may be there, with nothing in it
    if any(words in done.err for words in NOTHING_DONE):
        assert intact, said
    elif done.code == 0 or "is in place" in done.err:
        assert now.counts == after.counts, said
    else:
        assert intact or now.counts == after.counts, said
    again = world.again(operation, model)
    assert again == after, said


def said_clearly(done: Ended, codes: tuple[int, ...], said: str) -> None:
    """One line that says what is wrong, and a code that means it; nothing at all if it did no harm."""
    assert done.code in (0, *codes), said
    assert "Traceback" not in done.err, said
    assert "unexpected" not in done.err, said
    if done.code:
        assert done.err.startswith("spamnb: "), said
        assert done.err.endswith("\n"), said
        assert done.err.count("\n") == 1, said
    else:
        assert done.err == "", said


def contents(model: str) -> tuple[bytes | None, bytes | None]:
    """The model and its journal, byte for byte."""
    there = [Path(model + ending) for ending in ("", ".journal")]
    file, journal = [path.read_bytes() if path.exists() else None for path in there]
    return file, journal or None
