"""Learning beside judging: each message in a process of its own, so that judging waits for no lock."""

import os
import signal
from collections.abc import Callable
from select import PIPE_BUF
from typing import Any, NoReturn

from spamnb.delivery.commands import LearnCommand
from spamnb.errors import Locked, SpamnbError
from spamnb.rights import ROOT, Rights, take
from spamnb.serve.held_bytes import HeldBytes
from spamnb.serve.log import Log
from spamnb.systemd import name_process
from spamnb.training.learn import learn

PROCESSES_PER_WORKER = 8
MOST_WAITING_TASKS, MOST_WAITING_FOR_A_MODEL = 192, 128  # so that others can still connect
FAILED_PREFIX, LOCKED_PREFIX = b"failed: ", b"failed: locked: "


class LearningTask:
    """A message to learn into a model, or to forget (no label). At its end, `result_reader` can be read."""

    def __init__(
        self,
        model: str,
        raw: bytes,
        label: str | None,
        may_create: bool = False,
        shared: str | None = None,
        owner: Rights = ROOT,
    ) -> None:
        self.model = model
        self.raw = raw
        self.label = label
        self.may_create = may_create  # whether to make the model, if there is none
        self.shared = shared  # the model that a user's new model stands on
        self.owner = owner  # whose rights root takes
        self.result_reader, self.result_writer = os.pipe()
        self.process = 0  # its process id; 0 until it is started

    def run(self, log: Log) -> bytes:
        """Learn the message and return its outcome, or the failure; by then, the change is on disk."""
        try:
            if self.owner != ROOT and not os.geteuid():
                take(self.owner)
            if self.may_create and self.label is not None:
                return LearnCommand(self.label, self.model, base=self.shared).learn(self.raw).encode()
            return learn(self.model, self.raw, self.label).encode()
        except Locked as error:
            return LOCKED_PREFIX + str(error).encode(errors="replace")
        except SpamnbError as error:
            return FAILED_PREFIX + str(error).encode(errors="replace")
        except Exception as error:
            log.unexpected(error)
            return FAILED_PREFIX + b"this message could not be learned"


class LearningQueue:
    """The learning tasks of a worker: PROCESSES_PER_WORKER run at a time, the others wait their turn.

    One at a time learns into a model: more would only wait for its lock, in the place of others.
    """

    def __init__(self, close_connections: Callable[[], None], log: Log, held: HeldBytes) -> None:
        self.log = log
        self.held = held
        self.close_connections = close_connections  # called first in each forked process
        self.waiting: list[LearningTask] = []
        self.running: set[str] = set()  # models

    def add(self, model: str, raw: bytes, label: str | None, *about: Any) -> LearningTask:
        alike = sum(task.model == model for task in self.waiting)
        is_full = len(self.waiting) >= MOST_WAITING_TASKS or alike >= MOST_WAITING_FOR_A_MODEL
        if is_full or not self.held.take(len(raw)):
            raise Locked("too many messages are being learned; try again later")
        task = LearningTask(model, raw, label, *about)
        self.waiting.append(task)
        self._start_waiting()
        return task

    def finish(self, task: LearningTask) -> str:
        """Take the outcome of a task that has ended, and start the next one."""
        result = os.read(task.result_reader, PIPE_BUF) or FAILED_PREFIX + b"the process that learned has died"
        os.close(task.result_reader)
        self.held.change(-len(task.raw))
        if task.process:
            os.waitpid(task.process, 0)
            self.running.remove(task.model)
        if result.startswith(LOCKED_PREFIX):  # who waits for this model has waited as long, or would
            self._fail_waiting(task.model, result)
        self._start_waiting()
        if result.startswith(FAILED_PREFIX):
            raise SpamnbError(result.removeprefix(FAILED_PREFIX).decode(errors="replace"))
        return result.decode()

    def _start_waiting(self) -> None:
        for task in list(self.waiting):
            if len(self.running) < PROCESSES_PER_WORKER and task.model not in self.running:
                self.waiting.remove(task)
                self._start(task)

    def _start(self, task: LearningTask) -> None:
        try:
            task.process = os.fork()
            if not task.process:
                self._learn_and_exit(task)
            self.running.add(task.model)
        except OSError as error:
            os.write(task.result_writer, FAILED_PREFIX + str(error.strerror).encode())
        os.close(task.result_writer)

    def _fail_waiting(self, model: str, result: bytes) -> None:
        for task in [task for task in self.waiting if task.model == model]:
            self.waiting.remove(task)
            os.write(task.result_writer, result)
            os.close(task.result_writer)

    def _learn_and_exit(self, task: LearningTask) -> NoReturn:
        try:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # learning that has begun is finished
            self.close_connections()
            name_process("spamnb-learning")
            os.write(task.result_writer, task.run(self.log))
        finally:
            os._exit(0)
