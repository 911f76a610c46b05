"""The program killed as by `kill -9`, at moments by chance or before each call that changes the disk."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from faults import straced
from faults.operations import Operation
from faults.worlds import World, counted, named, naming, session_of, settle, start, state
from helpers.waiting import PATIENCE, pipe_to_reader, until

CHANGING = ("open", "write", "truncate", "sync", "rename", "unlink", "lock")
ACKNOWLEDGED = (b" learned", b" moved", b" forgotten", b" dropped", b"\nmodel: ")


def at_random(world: World, operation: Operation, chance: Random, lessons: Sequence[bytes] = ()) -> bool:
    """Kill it at some moment; meanwhile others may learn. Whether there was anyone left to be killed."""
    _, took = world.measured(operation)
    model = world.place(operation)
    moment = chance.uniform(0, 1.05 * took)
    command, folder = world.command(operation, model), os.path.dirname(model)
    process = start(command, operation.stdin, folder, env=world.environment, start_new_session=True)
    learned: list[bytes] = []
    try:
        if operation.aside:
            assert process.wait(PATIENCE) == 0
            killed = strike_aside(model, moment)
        else:
            begun = time.monotonic()
            if operation.only_adds:
                learned = taught(world, model, lessons, begun + moment - 0.05)
            time.sleep(max(0, begun + moment - time.monotonic()))
            killed = process.poll() is None
            process.kill()
            assert ended(process, folder) == 0 or killed
    finally:
        process.kill()
        process.wait()
    all_gone(process)
    check(world, operation, model, Path(folder, "out").read_bytes(), learned)
    return killed


def in_the_middle(world: World, operation: Operation, lessons: Sequence[bytes]) -> None:
    """Kill it when it waits for its last mail at a pipe and others have learned."""
    world.measured(operation)
    model = world.place(operation)
    command = world.command(operation, model)
    folder, box = os.path.dirname(model), Path(command[-1])
    mail = box.read_bytes()
    box.unlink()
    os.mkfifo(box)
    process = start(command, operation.stdin, folder, env=world.environment, start_new_session=True)
    try:
        with pipe_to_reader(box):
            assert taught(world, model, lessons) == [*lessons]
            process.kill()
            assert ended(process, folder) == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
        box.unlink()
        box.write_bytes(mail)
    all_gone(process)
    check(world, operation, model, Path(folder, "out").read_bytes(), lessons)


def ended(process: subprocess.Popen[bytes], folder: str) -> int:
    """The exit code, for which there must be a reason."""
    code, output = process.wait(PATIENCE), Path(folder, "err").read_text()
    assert (code, output) in [(0, ""), (-signal.SIGKILL, "")]
    return code


def all_gone(process: subprocess.Popen[bytes]) -> None:
    until(
        lambda: not session_of(process.pid),
        lambda: f"processes {session_of(process.pid)} outlive the one that started them",
    )


def taught(world: World, model: str, lessons: Sequence[bytes], until: float = math.inf) -> list[bytes]:
    """Messages that others learn one after the other; those that were acknowledged."""
    learned = []
    for raw in lessons:
        if time.monotonic() > until:
            break
        world.run("train", "--spam", "-", "--model", model, stdin=raw).succeeds()
        learned.append(raw)
    return learned


def strike_aside(model: str, moment: float) -> bool:
    """Kill the process that folds a journal, if it is there."""
    time.sleep(moment)
    there = naming(model)
    for process in there:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return bool(there)


def at_each_call(world: World, operation: Operation, call: str, most: int | None = None) -> int:
    """Kill it before the first call of a kind, before the second and so on. How often it struck."""
    times = 0
    for number in straced.spread(straced.calls(world, operation)[call], most):
        model = world.place(operation)
        done, struck = straced.run(world, operation, model, call, "signal=KILL", str(number))
        assert done.code == 0 or struck, done.err
        check(world, operation, model, done.out, [])
        times += bool(struck)
    return times


def check(world: World, operation: Operation, model: str, out: bytes, learned: Sequence[bytes]) -> None:
    """All of it or nothing, nothing acknowledged lost, nobody kept out, and it can be done once more."""
    before, after = world.before(operation), world.after(operation)
    settle(model)
    now = state(model)
    lessons = {named(raw): "spam" for raw in learned}
    said = any(word in out for word in ACKNOWLEDGED)
    allowed = [after] if said else [before, after]
    assert now.learned in [one.learned | lessons for one in allowed]
    if operation.counts_mail:
        assert now.counts is None or now.counts == counted(now.learned)
    else:
        assert now.counts in [one.counts for one in allowed]
    if now.counts is not None:
        world.run("inspect", "--json", "--model", model).succeeds()
    again = world.again(operation, model)
    if lessons:
        assert again.learned == after.learned | lessons
        assert again.counts == counted(again.learned)
    else:
        assert again == after
    assert not os.path.exists(f"{model}.new")
    world.leave(model)
