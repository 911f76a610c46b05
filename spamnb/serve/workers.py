"""Several processes at the same sockets, and one that looks after them."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import socket
import time
from typing import TYPE_CHECKING

from spamnb.files import complain, write_stderr
from spamnb.serve import sockets
from spamnb.serve.connections import Connections, Limits
from spamnb.serve.judge import Judge
from spamnb.serve.lessons import School
from spamnb.serve.log import Log
from spamnb.serve.metrics import Counters
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER, MEGABYTE
from spamnb.serve.spamd import Spamd

if TYPE_CHECKING:
    from typing import NoReturn

    from spamnb.serve.conversation import Talk
    from spamnb.serve.options import Options

STOPS = (signal.SIGTERM, signal.SIGINT)
HANDLED = (*STOPS, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM)
PATIENCE = 45  # seconds for workers to finish; a lesson waits 30 for a lock
OTHER_FILES = 256  # than connections, open at a time
YOUNG_OBJECTS = 100_000  # before those in a ring are looked for: with Python's 700, 7 % of the time
SHORT_LIFE = 1.0  # seconds; who died so young is not replaced at once


class Server:
    """Opens the sockets, starts the workers, replaces those that die, and stops them all."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.doors: list[socket.socket] = []
        self.metrics: list[socket.socket] = []
        self.ours: list[socket.socket] = []  # not handed over: to be removed at the end
        self.workers: dict[int, tuple[int, float]] = {}  # by process: which worker, since when
        self.counters = Counters(options.workers)
        self.judge = Judge(options.model, options.user_models, self.counters)
        self.milter = self._milter() if options.milter else None
        self.alive, self.end_of_life = os.pipe()  # ends when this process does, however it does

    def _milter(self) -> Talk:
        from spamnb.serve.milter import Milter  # an extra

        return Milter(self.judge, Log(self.options.quiet), self.options).talk

    def run(self) -> int:
        self._listen()
        if self.options.user:
            sockets.become(self.options.user)
        elif not os.getuid():
            complain("serving as root; name an ordinary user with --user")
        if self.options.user_models is None:
            self.judge.shared.model()  # without one there is nothing to judge by
        self._allow_many_files()
        gc.freeze()  # what is there now is not looked at again, and stays shared with the workers
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler it does not come
        signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
        for worker in range(self.options.workers):
            self._start(worker)
        self._announce()
        self._look_after()
        self._stop()
        return 0

    def _listen(self) -> None:
        for name, door in sockets.handed_over():
            (self.metrics if name == sockets.METRICS else self.doors).append(door)
        default = DEFAULT_MILTER if self.options.milter else DEFAULT_ADDRESS
        addresses = self.options.listen or (() if self.doors else (default,))
        for address in addresses:
            self.ours += sockets.bound(address)
        self.doors += self.ours
        if self.options.metrics:
            own = sockets.bound(self.options.metrics)
            self.metrics += own
            self.ours += own

    def _allow_many_files(self) -> None:
        """A connection, a model and a lesson each take one."""
        wanted = self.options.max_connections + OTHER_FILES
        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= allowed < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most) if most >= 0 else wanted, most))

    def _announce(self) -> None:
        places = " and ".join(map(sockets.name_of, self.doors))
        metrics = "".join(f", metrics at {sockets.name_of(door)}" for door in self.metrics)
        write_stderr(f"spamnb: serving at {places}{metrics}; {self.options.workers} workers\n")
        sockets.notify("READY=1")

    def _start(self, worker: int) -> None:
        process = os.fork()
        if not process:
            self._work_and_exit(worker)
        self.workers[process] = worker, time.monotonic()

    def _look_after(self) -> None:
        while (number := signal.sigwait(HANDLED)) not in STOPS:
            if number == signal.SIGHUP:
                self._tell(signal.SIGHUP)
            for worker, since, end in self._ended():
                complain(f"worker {worker} died of {end}, and is replaced")
                time.sleep(max(0.0, since + SHORT_LIFE - time.monotonic()))
                self._start(worker)

    def _stop(self) -> None:
        """From now on others may listen here; the workers finish what they have begun."""
        sockets.notify("STOPPING=1")
        for door in self.ours:
            sockets.remove(door)
        for door in (*self.doors, *self.metrics):
            door.close()
        self._tell(signal.SIGTERM)
        signal.alarm(PATIENCE)
        while self.workers:
            if signal.sigwait(HANDLED) == signal.SIGALRM:
                self._tell(signal.SIGKILL)
            self._ended()

    def _ended(self) -> list[tuple[int, float, str]]:
        """The workers that are no more: which, since when they worked, and what ended them."""
        ended = []
        for process in list(self.workers):
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                ended.append((*self.workers.pop(process), cause_of_end(status)))
        return ended

    def _tell(self, number: int) -> None:
        for process in self.workers:
            os.kill(process, number)

    def _work_and_exit(self, worker: int) -> NoReturn:
        code = 1
        try:
            os.close(self.end_of_life)
            self.counters.use_row(worker)
            Worker(self).run()
            code = 0
        except Exception as error:
            Log().unexpected(error)
        finally:
            os._exit(code)


def cause_of_end(status: int) -> str:
    """Say what ended a process, from what waitpid tells of it."""
    code = os.waitstatus_to_exitcode(status)
    return f"exit status {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"


class Worker:
    """One process that serves."""

    def __init__(self, server: Server) -> None:
        options = server.options
        self.server = server
        self.judge = server.judge
        self.loop = asyncio.new_event_loop()
        log = Log(options.quiet)
        self.loop.set_exception_handler(lambda _, context: log.unexpected(context.get("exception")))
        size = max(options.max_size, MEGABYTE) if options.milter else options.max_size  # a packet's, too
        limits = Limits(options.max_connections, size, options.timeout)
        self.connections = Connections(self.loop, limits, log.unexpected)
        spamd = Spamd(server.judge, School(self.connections.leave, log), log, options)
        for door in server.doors:
            self.connections.open(door, server.milter or spamd.talk)
        for door in server.metrics:
            self.connections.open(door, server.counters.talk)
        self.loop.add_reader(server.alive, self._stop)

    def run(self) -> None:
        gc.set_threshold(YOUNG_OBJECTS)
        self._handle_signals()
        self.loop.run_forever()

    def _handle_signals(self) -> None:
        self.loop.add_signal_handler(signal.SIGTERM, self._stop)
        self.loop.add_signal_handler(signal.SIGHUP, self.judge.reload)
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # the terminal sends it to all; the server tells its workers
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)

    def _stop(self) -> None:
        if not self.connections.stopping:
            self.loop.remove_reader(self.server.alive)
            self.connections.stop()
