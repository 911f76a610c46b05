"""Learn messages in separate processes, so that judging does not wait for locks on models."""

import asyncio
import gc
import os
import signal
from collections import Counter
from select import PIPE_BUF
from time import monotonic
from typing import NamedTuple, NoReturn

from spamnb.delivery.commands import LearnCommand
from spamnb.errors import Locked, SpamnbError
from spamnb.rights import ROOT, Rights, take
from spamnb.serve.clients import HeldBytes, readable
from spamnb.serve.log import Log
from spamnb.systemd import name_process
from spamnb.training.learn import learn

MAX_PROCESSES = 8
MAX_WAITING, MAX_WAITING_FOR_A_MODEL = 192, 128  # so that other clients can still connect
FAILED_PREFIX, LOCKED_PREFIX = b"failed: ", b"failed: locked: "
STDERR, MAX_FILES = 2, 1 << 20


class Lesson(NamedTuple):
    """A message that a model learns or, if `label` is None, forgets."""

    model: str
    raw: bytes
    label: str | None
    base: str | None = None  # the shared model: the base, if a new model is made for a user
    owner: Rights = ROOT  # the rights with which a server that runs as root learns

    def run(self, log: Log) -> bytes:
        """Learn or forget the message and save the change; return the outcome, or why it failed."""
        try:
            if self.owner != ROOT and not os.geteuid():
                take(self.owner)
            if self.base and self.label is not None:
                return LearnCommand(self.label, self.model, base=self.base).learn(self.raw).encode()
            return learn(self.model, self.raw, self.label).encode()
        except Locked as error:
            return LOCKED_PREFIX + str(error).encode(errors="replace")
        except SpamnbError as error:
            return FAILED_PREFIX + str(error).encode(errors="replace")
        except Exception as error:
            log.unexpected(error)
            return FAILED_PREFIX + b"this message could not be learned; see the log"


class Lessons:
    """Learns messages in processes, at most MAX_PROCESSES at once, and one at a time for each model."""

    def __init__(self, log: Log, held: HeldBytes) -> None:
        self.log = log
        self.held = held
        self.processes = asyncio.Semaphore(MAX_PROCESSES)
        self.count: Counter[str] = Counter()  # by model
        self.turns: dict[str, asyncio.Lock] = {}
        self.found_locked: dict[str, float] = {}  # when a lesson last waited in vain for the lock

    async def learn(self, lesson: Lesson) -> str:
        """Learn or forget a message in a new process, and return the outcome."""
        model, asked = lesson.model, monotonic()
        is_full = self.count.total() >= MAX_WAITING or self.count[model] >= MAX_WAITING_FOR_A_MODEL
        if is_full or not self.held.take(len(lesson.raw)):
            raise Locked("too many messages are being learned; try again later")
        self.count[model] += 1
        try:
            async with self.turns.setdefault(model, asyncio.Lock()), self.processes:
                if self.found_locked.get(model, asked) > asked:  # an earlier lesson waited in vain
                    raise Locked(f"{model}: another program is changing this model; try again later")
                result = await self._in_a_process(lesson)
            if result.startswith(LOCKED_PREFIX):
                self.found_locked[model] = monotonic()
        finally:
            self.held.change(-len(lesson.raw))
            self.count[model] -= 1
            if not self.count[model]:
                for by_model in (self.count, self.turns, self.found_locked):
                    by_model.pop(model, None)
        if result.startswith(FAILED_PREFIX):
            raise SpamnbError(result.removeprefix(FAILED_PREFIX).decode(errors="replace"))
        return result.decode()

    async def _in_a_process(self, lesson: Lesson) -> bytes:
        reader, writer = os.pipe()
        try:
            process = os.fork()
        except OSError as error:
            os.close(reader)
            return FAILED_PREFIX + str(error.strerror).encode()
        else:
            if not process:
                self._learn_and_exit(lesson, writer)
        finally:
            os.close(writer)
        await readable(reader)
        result = os.read(reader, PIPE_BUF)
        os.close(reader)
        os.waitpid(process, 0)
        return result or FAILED_PREFIX + b"the process that learned the message has died"

    def _learn_and_exit(self, lesson: Lesson, writer: int) -> NoReturn:
        """In the new process: close the sockets of clients, learn, write the outcome to a pipe, and exit."""
        try:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # finish learning that has begun
            gc.freeze()  # no finalizer may close a file number that is used again
            os.closerange(STDERR + 1, writer)
            os.closerange(writer + 1, MAX_FILES)
            name_process("spamnb-learning")
            os.write(writer, lesson.run(self.log))
        finally:
            os._exit(0)
