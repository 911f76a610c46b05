"""Watching mailboxes: each account, in its own thread, is visited when mail arrives and every few minutes."""

from __future__ import annotations

import os
import random
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from spamnb.errors import NoModel, SetAside, SpamnbError
from spamnb.files import complain
from spamnb.history.queries import last_corrected
from spamnb.imap.connection import ImapConnection
from spamnb.imap.mailbox import VisitedMailbox
from spamnb.imap.state import State
from spamnb.imap.visit import Visit, check_trained, not_trained
from spamnb.systemd import notify

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.mailbox import Report

    Watched = tuple[Account, str]  # with the path of its model
    Read = Callable[[], Sequence[Watched]]
    Visited = Callable[[str], None]

POLL = 240.0  # seconds between two visits, if the server reports no mail
LOOK = 1.0  # seconds between two checks for corrections
FIRST_PAUSE, MAX_PAUSE = 2.0, 600.0  # seconds after a failure; each pause is twice as long as the last
LAST_CHANCE = 1.0  # seconds for all visits to end; the next visit finishes an interrupted one
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Watcher(threading.Thread):
    """Visits the mailbox of one account until it is stopped, and goes on after any error."""

    def __init__(self, watched: Watched, report: Report, visited: Visited, poll: float = POLL) -> None:
        self.account, self.model = watched
        super().__init__(name=self.account.name, daemon=True)
        self.report = report
        self.visited = visited
        self.poll = poll
        self.connection: ImapConnection | None = None
        self.stopped = False
        self.reader, self.writer = os.pipe()  # a byte written to it wakes the thread
        self.pause = FIRST_PAUSE
        self.last_error = ""

    def stop(self) -> None:
        self.stopped = True
        self.wake()

    def wake(self) -> None:
        os.write(self.writer, b"x")

    def cut_short(self) -> None:
        """Abort a visit by closing the connection, because the server may never answer."""
        if self.connection:
            self.connection.cut_off()

    def run(self) -> None:
        while not self.stopped:
            try:
                with State(self.account) as state, state.lock():
                    self._visit_until_stopped(state)
            except NoModel:  # no server was contacted, so try again soon
                self._complain(not_trained(self.account))
                self.pause = FIRST_PAUSE
            except SetAside:
                pass  # already reported
            except SpamnbError as error:
                self._complain(str(error))
            except Exception as error:
                self._complain(f"unexpected {type(error).__name__}: {error}")
            if not self.stopped:
                select.select([self.reader], [], [], self.pause * random.uniform(0.8, 1.2))  # noqa: S311
                self.pause = min(2 * self.pause, MAX_PAUSE)

    def _visit_until_stopped(self, state: State) -> None:
        check_trained(state, self.model)
        connection = self.connection = ImapConnection(self.account)
        try:
            while not self.stopped:
                Visit(VisitedMailbox(self.account, connection, state, self.model, self.report)).run()
                self.visited(self.account.name)
                self.pause = FIRST_PAUSE
                self._complain("")
                folder = connection.open(self.account.inbox[0], read_only=True)
                judged = state.progress("judged", folder.name)
                if folder.next_uid <= judged.next_uid:  # nothing came meanwhile
                    connection.wait(self.poll, self.reader)
                    while select.select([self.reader], [], [], 0)[0]:
                        os.read(self.reader, 1)
        finally:
            connection.close()

    def _complain(self, why: str) -> None:
        """Print the error `why` if it is new; if `why` is "", print once that the account works again."""
        if why != self.last_error and not self.stopped:
            complain(f"{self.account.name}: {why or 'works again'}")
        self.last_error = why


def watch(read: Read, report: Report, visited: Visited, poll: float = POLL) -> None:
    """Watch the accounts that `read` returns. At SIGHUP, call `read` again; at SIGTERM or SIGINT, stop.

    `visited` is called with the name of an account after each visit.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer)
    watchers = start(read(), report, visited, poll)
    notify("READY=1")
    corrected = last_corrected()
    while True:
        if not select.select([reader], [], [], LOOK)[0]:
            if corrected != (corrected := last_corrected()):  # for example on the review page
                for watcher in watchers:
                    watcher.wake()
            continue
        if os.read(reader, 1)[0] != signal.SIGHUP:
            break
        try:
            accounts = read()
        except SpamnbError as error:
            complain(f"{error} (continuing with the accounts as before)")
            continue
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
        stop(watchers)
        watchers = start(accounts, report, visited, poll)
        notify("READY=1")
    notify("STOPPING=1")
    stop(watchers)


def start(accounts: Sequence[Watched], report: Report, visited: Visited, poll: float) -> list[Watcher]:
    watchers = [Watcher(watched, report, visited, poll) for watched in accounts]
    for watcher in watchers:
        watcher.start()
    return watchers


def stop(watchers: Sequence[Watcher]) -> None:
    """Stop all watchers; abort visits that do not end soon."""
    for end in (Watcher.stop, Watcher.cut_short):
        for watcher in watchers:
            end(watcher)
        deadline = time.monotonic() + LAST_CHANCE
        for watcher in watchers:
            watcher.join(max(0.0, deadline - time.monotonic()))
