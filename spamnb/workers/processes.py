"""Work spread over processes: results in order, memory bounded, and no process left behind."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.process import BaseProcess

    Task = Callable[..., Any]

AHEAD = 2  # pieces of work beyond one a process that may be under way or wait for their turn
KILLED = "a worker process was killed (out of memory?); nothing was changed"


def all_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(task: Task, work: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Results in the order of the work. Whatever stops it halfway stops the processes at once."""
    if jobs == 1:
        for arguments in work:
            yield task(*arguments)
        return
    crew = Crew(task, jobs)
    try:
        yield from crew.results(work)
    except (EOFError, ConnectionError) as error:
        raise SpamnbError(KILLED) from error
    finally:
        crew.dismiss()


class Crew:
    """Processes with a pipe to each.

    Not a ProcessPoolExecutor: of that no process can be killed in the middle of a result without its
    thread waiting for the rest for ever.
    """

    def __init__(self, task: Task, size: int) -> None:
        self.task = task
        self.size = size
        self.pipes: list[Connection] = []
        self.processes: list[BaseProcess] = []

    def hire(self) -> Connection:
        """One process more; what there is little of needs few."""
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited: Ctrl-C is ours alone
        try:
            ours, theirs = Pipe()
            self.pipes.append(ours)
            # fork: a spawned process needs 0.3 s to import what this one has.
            process = get_context("fork").Process(
                target=serve, args=(self.task, theirs, self.pipes), daemon=True
            )
            process.start()
            self.processes.append(process)
            theirs.close()
        except OSError as error:
            why = f"cannot start {self.size} processes: {error.strerror}; use fewer --jobs"
            raise SpamnbError(why) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        return ours

    def results(self, work: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        waiting = enumerate(work)
        idle: list[Any] = []
        busy: dict[Any, int] = {}  # with the number of its piece
        done: dict[int, Any] = {}
        turn = 0
        while True:
            while (
                len(busy) < self.size
                and len(busy) + len(done) < self.size + AHEAD
                and (piece := next(waiting, None)) is not None
            ):
                number, arguments = piece
                pipe = idle.pop() if idle else self.hire()
                pipe.send(arguments)
                busy[pipe] = number
            if turn in done:
                yield done.pop(turn)
                turn += 1
            elif busy:
                for pipe in wait(list(busy)):
                    done[busy.pop(pipe)] = received(pipe)
                    idle.append(pipe)
            else:
                return

    def dismiss(self) -> None:
        for process in self.processes:
            process.kill()  # idle, or its work is not wanted any more
        for process in self.processes:
            process.join()
            process.close()
        for pipe in self.pipes:
            pipe.close()


def received(pipe: Any) -> Any:
    error, result = pipe.recv()
    if error is not None:
        raise error
    return result


def serve(task: Task, pipe: Connection, others: list[Connection]) -> None:
    """The life of a worker. It ends when nobody is at the other end of its pipe."""
    for other in others:
        other.close()  # held here, too, they would not end with the parent
    try:
        while True:
            arguments = pipe.recv()
            try:
                result, error = task(*arguments), None
            except Exception as raised:
                result, error = None, raised
            pipe.send((error, result))
    except (EOFError, ConnectionError):
        return
