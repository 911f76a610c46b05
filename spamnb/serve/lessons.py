"""Learning beside judging: each lesson in a process of its own, so that nobody waits for a lock or a fold."""

from __future__ import annotations

import os
import signal
from collections import deque
from select import PIPE_BUF
from typing import TYPE_CHECKING

from spamnb.errors import Locked, SpamnbError
from spamnb.training.learn import learn

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from spamnb.serve.log import Log

MOST_AT_ONCE = 8  # processes of a worker
MOST_WAITING = 64
FAILED = b"failed: "  # in front of the reason


class Lesson:
    """A message on its way into a model, or out of it (no label). Its end can be waited for as for a file."""

    def __init__(self, model: str, raw: bytes, label: str | None) -> None:
        self.model = model
        self.raw = raw
        self.label = label
        self.result, self.told = os.pipe()
        self.process = 0  # none yet

    def fileno(self) -> int:
        return self.result

    def run(self, log: Log) -> bytes:
        """Learn; when this returns, the change is on disk."""
        try:
            return learn(self.model, self.raw, self.label).encode()
        except SpamnbError as error:
            return FAILED + str(error).encode(errors="replace")
        except Exception as error:
            log.unexpected(error)
            return FAILED + b"this message could not be learned"


class School:
    """The lessons of a worker: some at a time, the others wait their turn."""

    def __init__(self, leave: Callable[[], None], log: Log) -> None:
        self.log = log
        self.leave = leave  # what a new process does first: let go of the worker's connections
        self.waiting: deque[Lesson] = deque()
        self.under_way = 0

    def begin(self, model: str, raw: bytes, label: str | None) -> Lesson:
        if len(self.waiting) >= MOST_WAITING:
            raise Locked("too many messages are being learned; try again later")
        lesson = Lesson(model, raw, label)
        self.waiting.append(lesson)
        self._start()
        return lesson

    def end(self, lesson: Lesson) -> str:
        """What became of a message; its lesson is over."""
        said = os.read(lesson.result, PIPE_BUF) or FAILED + b"the process that learned has died"
        os.close(lesson.result)
        if lesson.process:
            os.waitpid(lesson.process, 0)
        self.under_way -= 1
        self._start()
        if said.startswith(FAILED):
            raise SpamnbError(said.removeprefix(FAILED).decode(errors="replace"))
        return said.decode()

    def _start(self) -> None:
        while self.waiting and self.under_way < MOST_AT_ONCE:
            lesson = self.waiting.popleft()
            self.under_way += 1
            try:
                lesson.process = os.fork()
                if not lesson.process:
                    self._learn_and_exit(lesson)
            except OSError as error:
                os.write(lesson.told, FAILED + str(error.strerror).encode())
            os.close(lesson.told)

    def _learn_and_exit(self, lesson: Lesson) -> NoReturn:
        try:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # what was begun is finished
            self.leave()
            os.write(lesson.told, lesson.run(self.log))
        finally:
            os._exit(0)
