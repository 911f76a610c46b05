"""The server: where it listens, how it reacts to signals, and how it ends. One thread serves all clients and
judges their messages, which takes 0.4 ms for most, and 0.2 s for the largest.
"""

import asyncio
import errno
import gc
import os
import resource
import signal
import socket
from contextlib import suppress

from spamnb.errors import SpamnbError, UsageError
from spamnb.serve import sockets
from spamnb.serve.clients import FIRST_BYTES_WAIT, Clients, Handler, readable
from spamnb.serve.judge import Judge
from spamnb.serve.learning import Lessons
from spamnb.serve.log import Log, complain
from spamnb.serve.metrics import Counters
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER_ADDRESS, Options
from spamnb.serve.rspamd import Rspamd, read_password
from spamnb.serve.spamd import Spamd
from spamnb.systemd import name_process, notify

OTHER_FILES = 640  # files that may be open besides connections: models, a pipe for each lesson
GC_THRESHOLD = 10_000  # new objects until cycles are looked for; with Python's 700, that is 7 % of the time
OUT_OF_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Server:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.log = Log()
        self.listeners: list[socket.socket] = []
        self.http_listeners: list[socket.socket] = []
        self.created: list[socket.socket] = []  # listeners made here, not by systemd; removed at the end
        self.password = read_password(options.http_password) if options.http_password else ""
        self.judge = Judge(options, Counters())
        self.clients = Clients(options, self.log.unexpected)
        parts = self.judge, Lessons(self.log, self.clients.held), self.log, options
        self.http = Rspamd(*parts)
        self.http.password = self.password
        self.handler: Handler = Spamd(*parts).handle
        if options.milter:
            from spamnb.serve.milter import Milter  # needs an extra

            self.handler = Milter(self.judge, self.log, options, self.clients.held).handle

    def run(self) -> int:
        name_process("spamnb-serve")
        self._listen()
        if self.options.user:
            sockets.become_user(self.options.user)
        elif not os.getuid():
            complain("running as root; name an ordinary user with --user")
        self._check_shared_model()
        self._allow_many_files()
        gc.freeze()  # existing objects need no garbage collection
        gc.set_threshold(GC_THRESHOLD)
        asyncio.run(self._serve())
        return 0

    def _listen(self) -> None:
        for name, listener in sockets.from_systemd():
            (self.http_listeners if name == sockets.HTTP else self.listeners).append(listener)
        default = DEFAULT_MILTER_ADDRESS if self.options.milter else DEFAULT_ADDRESS
        for addresses, listeners in (
            (self.options.listen or (() if self.listeners else (default,)), self.listeners),
            (self.options.http, self.http_listeners),
        ):
            for address in addresses:
                created = sockets.listen(address, self.options.allow_network)
                listeners += created
                self.created += created
        if not self.password and not all(map(sockets.is_local, self.http_listeners)):
            raise UsageError("--http at an address that other machines can reach needs --http-password")

    def _check_shared_model(self) -> None:
        """Open the shared model; if that fails, the server still starts, and tries again later."""
        try:
            self.judge.shared.current()
        except SpamnbError as error:
            whose = " of users without a model of their own" if self.options.user_models else ""
            complain(f"{error} (until this is fixed, mail{whose} is not judged)")

    def _allow_many_files(self) -> None:
        """Raise the limit of open files: each connection, each model and each lesson opens one."""
        wanted = self.options.max_connections + OTHER_FILES
        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= allowed < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most) if most >= 0 else wanted, most))

    async def _serve(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGHUP, self.judge.reload)
        doors = [(listener, self.handler) for listener in self.listeners]
        doors += [(listener, self.http.handle) for listener in self.http_listeners]
        for listener, _ in doors:
            listener.setblocking(False)
        async with asyncio.TaskGroup() as group:
            accepting = [group.create_task(self._accept_all(*door)) for door in doors]
            self._announce()
            await stop.wait()
            notify("STOPPING=1")
            for task in accepting:
                task.cancel()
        for listener in self.created:
            sockets.remove(listener)
        for listener, handler in doors:
            with suppress(OSError):
                while True:  # accept waiting clients before closing
                    self._accept(listener, handler)
            listener.close()
        await self.clients.stop()

    def _announce(self) -> None:
        places = ("", self.listeners), (", HTTP", self.http_listeners)
        listed = "".join(
            f"{name} at {' and '.join(map(sockets.address_of, listeners))}"
            for name, listeners in places
            if listeners
        )
        complain(f"serving{listed}")
        notify("READY=1")

    async def _accept_all(self, listener: socket.socket, handler: Handler) -> None:
        while True:
            try:
                if self.clients.are_full:
                    await readable(listener)
                    await self.clients.make_room()
                self._accept(listener, handler)
                await asyncio.sleep(0)  # the clients already here have their turn
            except BlockingIOError:
                await readable(listener)
            except OSError as error:
                if error.errno in OUT_OF_HANDLES:
                    self.clients.drop_slowest()
                await asyncio.sleep(FIRST_BYTES_WAIT)

    def _accept(self, listener: socket.socket, handler: Handler) -> None:
        client, _ = listener.accept()
        self.clients.start(client, handler)
