"""Many processes at one model at once: none fails, none waits long, and it counts as if they came in turn."""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
from random import Random

from faults.operations import BRIM, CROWD, MAILBOXES, ONE, Operation
from faults.worlds import World, counted, named, settle, state
from helpers.waiting import PATIENCE, until

from spamnb.training.learn import learn

MAX_SECONDS = 2.0  # seconds that a process with a message may take
Lesson = tuple[bytes, str | None]  # a message, and the label it gets; None to forget it


class Process:
    """One that has started, and read all of its message but the end: so many can go on at the same moment."""

    def __init__(self, world: World, arguments: list[str], raw: bytes) -> None:
        command, pipe = [world.run.program, *arguments], subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=world.environment)
        assert self.process.stdin
        self.pipe = self.process.stdin
        self.pipe.write(raw)
        self.pipe.flush()

    @property
    def is_ready(self) -> bool:
        unread: tuple[int] = struct.unpack("i", fcntl.ioctl(self.pipe, termios.FIONREAD, bytes(4)))
        return unread == (0,)

    def said(self) -> tuple[int, bytes, bytes]:
        assert self.process.stdout
        assert self.process.stderr
        return self.process.wait(), self.process.stdout.read(), self.process.stderr.read()

    def end(self) -> None:
        self.process.kill()
        with self.process:  # closes its pipes
            pass


def lessons(many: int, chance: Random) -> list[Lesson]:
    """Most are new; some messages that the model knows are moved, some forgotten."""
    known, some = MAILBOXES["first.spam"][1], many // 8
    moved: list[Lesson] = [(raw, "ham") for raw in known[:some]]
    forgotten: list[Lesson] = [(raw, None) for raw in known[some : 2 * some]]
    new: list[Lesson] = [(raw, "spam") for raw in CROWD[: many - 2 * some]]
    return chance.sample([*moved, *forgotten, *new], many)


def at_once(world: World, learners: int, judges: int, chance: Random, killed: int = 0) -> tuple[float, float]:
    """So many learn a message each, others judge one, on a model whose journal is about to be folded.

    Some of those that learn may be killed, at moments by chance. Returns how many seconds the slowest took
    to learn and to judge, from the end of its message to its own.
    """
    model = world.place(Operation("", BRIM))
    in_turn = os.path.join(shutil.copytree(os.path.dirname(model), world.folder / "in-turn"), "model")
    taught = lessons(learners, chance)
    asked = [(["train", f"--{label}", "-"] if label else ["forget", "-"], raw) for raw, label in taught]
    processes: list[Process] = []
    try:
        for words, raw in asked:
            processes.append(Process(world, [*words, "--model", model], raw))
        for _ in range(judges):
            processes.append(Process(world, ["classify", "--model", model], ONE))
        until(lambda: all(process.is_ready for process in processes), lambda: "they do not start")
        victims = {process: chance.uniform(0, 0.3) for process in chance.sample(processes[:learners], killed)}
        times = let_go(processes, victims)
        said = [process.said() for process in processes]
    finally:
        for process in processes:
            process.end()
    for process, (code, _, err) in zip(processes, said, strict=True):
        assert code == 0 or (code == -signal.SIGKILL and process in victims), err
        assert err == b""
    assert {out[:5] for _, out, _ in said[learners:]} <= {b"spam\t", b"unsur"}  # of little mail
    settle(model)
    now = state(model)
    for (raw, label), (_, out, _) in zip(taught, said, strict=False):
        if out or now.learned.get(named(raw)) == label:
            assert learn(in_turn, raw, label) in ("learned", "moved", "forgotten")
    settle(in_turn)
    then = state(in_turn)
    assert now.learned == then.learned
    assert now.counts == then.counts == counted(now.learned)
    world.leave(model)
    world.leave(in_turn)
    return max(times[:learners]), max(times[learners:], default=0.0)


def let_go(processes: list[Process], victims: dict[Process, float]) -> list[float]:
    """How many seconds each takes once it has its message; some are killed after so many."""
    handles = {os.pidfd_open(process.process.pid): process for process in processes}
    waiting = select.poll()
    for handle in handles:
        waiting.register(handle, select.POLLIN)
    begun = time.monotonic()
    for process in processes:
        process.pipe.close()
    took: dict[Process, float] = {}
    while len(took) < len(processes):
        for handle, _ in waiting.poll(10):
            took[handles[handle]] = time.monotonic() - begun
            waiting.unregister(handle)
            os.close(handle)
        for process, moment in victims.items():
            if process not in took and time.monotonic() - begun >= moment:
                process.process.kill()
        assert time.monotonic() - begun < PATIENCE, "some do not come to an end"
    return [took[process] for process in processes]
