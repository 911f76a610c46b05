"""Tasks run by processes in parallel: results in order, memory bounded, and no process left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Task = Callable[..., Any]

AHEAD = 2  # how many more tasks than processes may be under way, or done and waiting for their turn
KILLED = "a worker process was killed (out of memory?); nothing was changed"


def all_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(task: Task, work: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Yield the results of a task for each tuple of arguments, in order.

    If an error or the caller stops this halfway, the processes are stopped at once.
    """
    if jobs == 1:
        for arguments in work:
            yield task(*arguments)
        return
    workers = WorkerProcesses(task, jobs)
    try:
        yield from workers.results(work)
    finally:
        workers.kill()


@contextmanager
def in_background(task: Task, jobs: int) -> Iterator[Task]:
    """Run a task in a process beside this one, if there may be several; what is given returns its result."""
    if jobs == 1:
        yield task
        return
    workers = WorkerProcesses(task, 1)

    try:
        pipe = workers.start_one()
        send(pipe, ())
        yield lambda: received(pipe)
    finally:
        workers.kill()


class WorkerProcesses:
    """Processes that run one task, with a pipe to each.

    Not a ProcessPoolExecutor: if one of its processes is killed in the middle of a result, its thread waits
    for the rest for ever.
    """

    def __init__(self, task: Task, jobs: int) -> None:
        self.task = task
        self.jobs = jobs
        self.pipes: list[Connection] = []
        self.processes: list[BaseProcess] = []

    def start_one(self) -> Connection:
        """Start one more process, only when there is work for it: little work needs few processes."""
        from multiprocessing import get_context  # takes 10 ms to load, and one process has no use for it
        from multiprocessing.connection import Pipe

        # The new process inherits the mask: Ctrl-C is for this process alone.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pipe, far_end = Pipe()
            self.pipes.append(pipe)
            # fork: a spawned process needs 0.3 s to import what this one has imported.
            process = get_context("fork").Process(
                target=run_tasks, args=(self.task, far_end, self.pipes), daemon=True
            )
            process.start()
            self.processes.append(process)
            far_end.close()
        except OSError as error:
            why = f"cannot start {self.jobs} processes: {error.strerror}; use fewer --jobs"
            raise SpamnbError(why) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
        return pipe

    def results(self, work: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of the task for each tuple of arguments, in order."""
        from multiprocessing.connection import wait

        waiting = enumerate(work)
        idle: list[Any] = []
        busy: dict[Any, int] = {}  # pipes, with the index of their arguments
        done: dict[int, Any] = {}  # results by index
        next_index = 0
        while True:
            while (
                len(busy) < self.jobs
                and len(busy) + len(done) < self.jobs + AHEAD
                and (item := next(waiting, None)) is not None
            ):
                index, arguments = item
                pipe = idle.pop() if idle else self.start_one()
                send(pipe, arguments)
                busy[pipe] = index
            if next_index in done:
                yield done.pop(next_index)
                next_index += 1
            elif busy:
                for pipe in wait(list(busy)):
                    done[busy.pop(pipe)] = received(pipe)
                    idle.append(pipe)
            else:
                return

    def kill(self) -> None:
        for process in self.processes:
            process.kill()  # idle, or its work is not wanted any more
        for process in self.processes:
            process.join()
            process.close()
        for pipe in self.pipes:
            pipe.close()


@contextmanager
def telling_of_kills() -> Iterator[None]:
    """Say that a process was killed, where its pipe has no other end, or ends in the middle of a result."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise SpamnbError(KILLED) from error


def send(pipe: Connection, arguments: tuple[Any, ...]) -> None:
    with telling_of_kills():
        pipe.send(arguments)


def received(pipe: Any) -> Any:
    with telling_of_kills():
        error, result = pipe.recv()
    if error is not None:
        raise error
    return result


def run_tasks(task: Task, pipe: Connection, others: list[Connection]) -> None:
    """Run a task for all arguments that come, until nobody is at the other end of the pipe."""
    for other in others:
        other.close()  # left open here, those pipes would not end with the parent
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
