"""The real program under strace, which kills it or makes chosen calls fail."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

from faults.operations import Operation
from faults.worlds import ENDINGS, Ended, World, ended

# By the names they have on any machine; strace passes over a `?name` that there is none of.
CALLS = {
    "open": "?open,openat",
    "read": "read",
    "pread": "pread64",
    "write": "write,pwrite64",
    "truncate": "ftruncate",
    "sync": "fsync,fdatasync",
    "rename": "?rename,?renameat,?renameat2",
    "unlink": "?unlink,unlinkat",
    "lock": "flock",
}


def run(
    world: World,
    operation: Operation,
    model: str,
    call: str,
    fault: str,
    when: str,
    paths: list[str] | None = None,
) -> tuple[Ended, int]:
    """With a fault (`signal=KILL`, `error=EIO`) at the so many-th call of a kind on a model, in each process.

    `when`: 3 for the third, 3+ for that and all that follow. By default the calls are those on
    the files of the model, their folder, and standard input and output. Returns also how often it came.
    """
    words = faulty(call, fault, when)
    if "error" in fault:
        words.append("--seccomp-bpf")  # stops at no other call: thrice as fast, but it brings no signal
    done, log = traced(world, operation, model, words, paths)
    return done, log.count("(INJECTED)") if "error" in fault else log.count(" = ?\n")  # a call without an end


def faulty(call: str, fault: str, when: str) -> list[str]:
    """Options of strace that make a call fail, or kill the process that makes it."""
    return ["-e", f"trace={CALLS[call]}", "-e", f"inject={CALLS[call]}:{fault}:when={when}"]


def tracer(log: str, paths: list[str], words: list[str]) -> list[str]:
    """The command that runs another one, and looks at its calls on some paths."""
    return ["strace", "-f", "-qq", "-o", log, *(word for path in paths for word in ("-P", path)), *words]


def traced(
    world: World, operation: Operation, model: str, words: list[str], paths: list[str] | None = None
) -> tuple[Ended, str]:
    """Run an operation under strace, and return the log of strace, too."""
    folder = os.path.dirname(model)
    if paths is None:
        streams = [os.path.join(folder, name) for name in ("in", "out")]
        paths = [folder, *streams, *(model + ending for ending in ENDINGS)]
    log = os.path.join(folder, "trace")
    command = [*tracer(log, paths, words), *world.command(operation, model)]
    done = ended(command, operation.stdin, folder, env=world.environment, cwd=folder)
    said = Path(log).read_text(errors="replace")
    os.unlink(log)
    return done, said


@cache
def calls(world: World, operation: Operation) -> Counter[str]:
    """How many of each kind an operation makes that nothing disturbs, in the process that makes the most."""
    names = {name.lstrip("?"): kind for kind, many in CALLS.items() for name in many.split(",")}
    model = world.place(operation)
    done, log = traced(world, operation, model, ["--seccomp-bpf", "-e", f"trace={','.join(CALLS.values())}"])
    assert done.code == 0, done.err
    world.leave(model)
    found: Counter[tuple[str, str]] = Counter()
    for line in log.splitlines():
        process, _, said = line.partition(" ")
        if kind := names.get(said.lstrip().partition("(")[0]):
            found[kind, process] += 1
    most: Counter[str] = Counter()
    for (kind, _), many in found.items():
        most[kind] = max(most[kind], many)
    return most


def spread(many: int, most: int | None) -> list[int]:
    """Numbers up to `many`: all, or so many from the first to the last."""
    if most is None or many <= most:
        return list(range(1, many + 1))
    return [1 + place * (many - 1) // (most - 1) for place in range(most)]
