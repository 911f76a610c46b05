"""The processes of the server: workers at the same sockets, and one that supervises them."""

import asyncio
import contextlib
import gc
import os
import resource
import signal
import socket
import time
from functools import partial
from typing import NoReturn

from spamnb.errors import SpamnbError, UsageError
from spamnb.files import counted
from spamnb.serve import sockets
from spamnb.serve.connections import Connections, Limits
from spamnb.serve.conversation import Handler
from spamnb.serve.held_bytes import HeldBytes
from spamnb.serve.judge import Judge
from spamnb.serve.learning import LearningQueue
from spamnb.serve.listeners import Listeners
from spamnb.serve.log import Log, complain
from spamnb.serve.metrics import RESTARTED, Counters
from spamnb.serve.model_gauges import measure
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER_ADDRESS, MEGABYTE, Options
from spamnb.serve.rspamd import Metrics, Rspamd, read_password
from spamnb.serve.spamd import Spamd
from spamnb.systemd import name_process, notify

STOPS = (signal.SIGTERM, signal.SIGINT)
NEW_MODEL = signal.SIGUSR1  # sent by a worker that finds a new file in the place of the shared model
HANDLED = (*STOPS, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM, NEW_MODEL)
STOP_TIMEOUT = 45  # seconds for workers to finish; learning may wait 30 of them for a lock
OTHER_FILES = 640  # files that a worker may have open besides its connections: models, two for each lesson
GC_THRESHOLD = 100_000  # new objects until cycles are looked for; with Python's 700, that is 7 % of the time
GENERATION_BYTES = 8
LOOK_AGAIN = 60  # seconds until models are measured again
SHORTEST_LIFE = 1.0  # seconds: a worker that dies earlier is not replaced at once


class Server:
    """Opens the sockets, starts the workers, replaces those that die, and stops them all."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.listeners: list[socket.socket] = []
        self.http_listeners: list[socket.socket] = []
        self.metrics_listeners: list[socket.socket] = []
        self.created: list[socket.socket] = []  # listeners that are not systemd's: removed at the end
        self.workers: dict[int, tuple[int, float]] = {}  # by process id: number and start time of the worker
        self.password = read_password(options.http_password) if options.http_password else ""
        self.counters = Counters(options.workers)
        self.judge = Judge(options, self.counters)
        # A packet of a milter must fit, however small messages are to be.
        self.largest = max(options.max_size, MEGABYTE) if options.milter else options.max_size
        self.held = HeldBytes(self.largest, options.workers)
        self.milter_handler: Handler | None = None
        if options.milter:
            from spamnb.serve.milter import Milter  # needs an extra

            self.milter_handler = Milter(self.judge, Log(), options, self.held).handle
        self.process = os.getpid()
        # By process id of a worker: a socket for new counts, which ends with this process.
        self.channels: dict[int, socket.socket] = {}
        self.sent: set[int] = set()  # generations of model files whose counts the workers have

    def run(self) -> int:
        name_process("spamnb-serve")
        self._listen()
        if self.options.user:
            sockets.become_user(self.options.user)
        elif not os.getuid():
            complain("serving as root; name an ordinary user with --user")
        self._check_shared_model()
        self._allow_many_files()
        gc.freeze()  # no cycles are looked for in what is there now: its memory stays shared with the workers
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler, sigwait would not see it
        signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
        for worker in range(self.options.workers):
            self._start(worker)
        self._measure_models()
        self._announce()
        self._supervise()
        self._stop()
        return 0

    def _listen(self) -> None:
        named = {sockets.METRICS: self.metrics_listeners, sockets.HTTP: self.http_listeners}
        for name, listener in sockets.from_systemd():
            named.get(name, self.listeners).append(listener)
        default = DEFAULT_MILTER_ADDRESS if self.options.milter else DEFAULT_ADDRESS
        for addresses, listeners in (
            (self.options.listen or (() if self.listeners else (default,)), self.listeners),
            (self.options.http, self.http_listeners),
            ((self.options.metrics,) if self.options.metrics else (), self.metrics_listeners),
        ):
            for address in addresses:
                created = sockets.listen(address, self.options.allow_network)
                listeners += created
                self.created += created
        if not self.password and not all(map(sockets.is_local, self.http_listeners)):
            raise UsageError("where other machines can connect, --http needs --http-password")

    def _check_shared_model(self) -> None:
        """Open the shared model; where that fails, the server starts all the same, and tries again."""
        try:
            self.judge.shared.current()
        except SpamnbError as error:
            whose = " of users without a model of their own" if self.options.user_models else ""
            complain(f"{error} (mail{whose} is not judged until then)")

    def _allow_many_files(self) -> None:
        """Raise the limit of open files: a connection, a model and a learning process each take one."""
        wanted = self.options.max_connections + OTHER_FILES
        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= allowed < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most) if most >= 0 else wanted, most))

    def _announce(self) -> None:
        places = ("", self.listeners), (", HTTP", self.http_listeners), (", metrics", self.metrics_listeners)
        listed = "".join(
            f"{name} at {' and '.join(map(sockets.address_of, listeners))}"
            for name, listeners in places
            if listeners
        )
        complain(f"serving{listed}; {counted(self.options.workers, 'worker')}")
        notify("READY=1")

    def _start(self, worker: int) -> None:
        ours, theirs = socket.socketpair()
        process = os.fork()
        if not process:
            for channel in (ours, *self.channels.values()):
                channel.close()
            self._work_and_exit(worker, theirs)
        theirs.close()
        ours.setblocking(False)
        self.channels[process] = ours
        self.workers[process] = worker, time.monotonic()

    def _supervise(self) -> None:
        while (number := signal.sigwait(HANDLED)) not in STOPS:
            if number == signal.SIGHUP:
                self._signal_workers(signal.SIGHUP)
            if number == signal.SIGALRM:
                self._measure_models()
            if number == NEW_MODEL:
                self._share_counts()
            for worker, started, cause in self._reap():
                self.counters.count(RESTARTED)
                complain(f"worker {worker} died of {cause}, and is replaced")
                time.sleep(max(0.0, started + SHORTEST_LIFE - time.monotonic()))
                self._start(worker)

    def _share_counts(self) -> None:
        """Read the counts of a new shared model, and hand them on to the workers: once for all of them."""
        with contextlib.suppress(SpamnbError):  # the workers tell why
            self.judge.shared.current()
        memory = self.judge.shared.memory
        for generation in memory.keys() - self.sent:
            message, handles = [generation.to_bytes(GENERATION_BYTES)], [memory[generation].handle]
            for channel in self.channels.values():
                with contextlib.suppress(OSError):  # a worker that has just died, or does not listen
                    socket.send_fds(channel, message, handles)
        self.sent = set(memory)

    def _measure_models(self) -> None:
        """Look at all models, now and then, for the metrics: in this process, where nobody waits for it."""
        if self.http_listeners or self.metrics_listeners:
            measure(self.judge)
            signal.alarm(LOOK_AGAIN)

    def _stop(self) -> None:
        """Free the addresses for another server, and let the workers finish what they have begun."""
        notify("STOPPING=1")
        for listener in self.created:
            sockets.remove(listener)
        for listener in (*self.listeners, *self.http_listeners, *self.metrics_listeners):
            listener.close()
        self._signal_workers(signal.SIGTERM)
        signal.alarm(STOP_TIMEOUT)
        while self.workers:
            if signal.sigwait(HANDLED) == signal.SIGALRM:
                self._signal_workers(signal.SIGKILL)
            self._reap()

    def _reap(self) -> list[tuple[int, float, str]]:
        """Strike off the workers that have ended; return number, start time and cause of end of each."""
        ended = []
        for process in list(self.workers):
            has_ended, status = os.waitpid(process, os.WNOHANG)
            if has_ended:
                self.channels.pop(process).close()
                ended.append((*self.workers.pop(process), cause_of_end(status)))
        return ended

    def _signal_workers(self, number: int) -> None:
        for process in self.workers:
            kill(process, number)

    def _work_and_exit(self, worker: int, channel: socket.socket) -> NoReturn:
        code = 1
        try:
            name_process(f"spamnb-worker {worker}")
            self.counters.use_row(worker)
            self.held.use_cell(worker)
            Worker(self, channel).run()
            code = 0
        except Exception as error:
            Log().unexpected(error)
        finally:
            os._exit(code)


def kill(process: int, number: int) -> None:
    """Send a signal to a process, if it still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def cause_of_end(status: int) -> str:
    """Text of what ended a process, from its status by waitpid."""
    code = os.waitstatus_to_exitcode(status)
    return f"exit status {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"


class Worker:
    """One process that serves clients."""

    def __init__(self, server: Server, channel: socket.socket) -> None:
        options = server.options
        self.channel = channel
        self.judge = server.judge
        self.loop = asyncio.new_event_loop()
        log = Log()
        self.loop.set_exception_handler(lambda _, context: log.unexpected(context.get("exception")))
        limits = Limits(options.max_connections, server.largest, options.timeout)
        self.listeners = Listeners(Connections(self.loop, limits, log.unexpected, server.held))
        parts = server.judge, LearningQueue(self.listeners.close_all, log, server.held), log, options
        http = Rspamd(*parts)
        http.password = server.password
        for listeners, handler in (
            (server.listeners, server.milter_handler or Spamd(*parts).handle),
            (server.http_listeners, http.handle),
            (server.metrics_listeners, Metrics(*parts).handle),
        ):
            for listener in listeners:
                self.listeners.open(listener, handler)
        channel.setblocking(False)
        self.loop.add_reader(channel, self._hear_supervisor)
        self.judge.shared.ask_supervisor = partial(kill, server.process, NEW_MODEL)

    def run(self) -> None:
        gc.set_threshold(GC_THRESHOLD)
        self.loop.add_signal_handler(signal.SIGTERM, self._stop)
        self.loop.add_signal_handler(signal.SIGHUP, self.judge.reload)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; workers wait for SIGTERM
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
        self.loop.run_forever()

    def _hear_supervisor(self) -> None:
        """Take the counts of a new model; where the channel has ended, so has the supervisor."""
        generation, handles, *_ = socket.recv_fds(self.channel, GENERATION_BYTES, 1)
        if handles:
            os.set_inheritable(handles[0], False)
            self.judge.shared.take_memory(int.from_bytes(generation), handles[0])
        else:
            self._stop()

    def _stop(self) -> None:
        if not self.listeners.connections.stopping:
            self.loop.remove_reader(self.channel)
            self.listeners.stop()
