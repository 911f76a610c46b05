"""The client of imapclient, with bounds for what a server may send and how long it may take."""

from __future__ import annotations

import imaplib
import ssl
import time
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING

from spamnb.errors import DataError, UsageError

try:
    from imapclient import IMAPClient, SocketTimeout, exceptions
except ImportError:
    raise UsageError("`spamnb imap` needs an extra: pip install 'spamnb[imap]'") from None

if TYPE_CHECKING:
    import socket

    from spamnb.imap.accounts import Account

__all__ = ["SocketTimeout", "exceptions"]  # of imapclient: this module says what to do if it is missing

MOST_SECONDS = 900.0  # for all of an answer, however the bytes come: 4 MB at 5 kB a second
MOST_ANSWERED = 16 << 20  # bytes that a server may send in answer to a command; a million numbers take 8 MB

getLogger("imapclient").addHandler(NullHandler())  # else it would print what a server says that is not ASCII


class BoundedConnection(imaplib.IMAP4):
    """Connection that ends when the server sends more than was asked for, or takes too long over it.

    A server may announce any size. Lines are read here: imaplib's may have 1 MB, a search of 150,000 messages
    has more.
    """

    most = MOST_ANSWERED  # bytes in answer to the next command
    left = MOST_ANSWERED
    seconds = MOST_SECONDS  # for the next answer

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None, timeout: float) -> None:
        self.context = context
        self.start_clock()
        super().__init__(host, port, timeout)

    @property
    def sock(self) -> socket.socket:
        return self._sock

    @sock.setter
    def sock(self, sock: socket.socket) -> None:
        self._sock = sock
        self.received = bytearray()  # anybody can have sent what came before TLS

    def _create_socket(self, timeout: float | None) -> socket.socket:
        plain: socket.socket = super()._create_socket(timeout)  # type: ignore[misc]
        return self.context.wrap_socket(plain, server_hostname=self.host) if self.context else plain

    def _command(self, name: str, *arguments: object) -> object:
        self.left = self.most if self.left >= 0 else -1  # it broke a bound: no word to it any more
        self._take(0)
        self.start_clock()
        return super()._command(name, *arguments)  # type: ignore[misc]

    def start_clock(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def read(self, size: int) -> bytes:
        self._take(size)
        while len(self.received) < size and self._receive():
            pass
        return self._cut(size)

    def readline(self) -> bytes:
        seen = 0
        while not (end := self.received.find(b"\n", seen) + 1):
            seen = len(self.received)
            if seen > self.left or not self._receive():
                end = seen
                break
        self._take(end)
        return self._cut(end)

    def _receive(self) -> bool:
        """Wait for some bytes; False at the end of the connection."""
        if time.monotonic() > self.deadline:
            self.left = -1
            raise self.abort(f"no whole answer in {self.seconds:g} seconds")
        data = self.sock.recv(1 << 16)
        self.received += data
        return bool(data)

    def _cut(self, size: int) -> bytes:
        data = bytes(self.received[:size])
        del self.received[:size]
        return data

    def _take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise self.abort("the server sends more than was asked for")


class Client(IMAPClient):  # type: ignore[misc]
    """Client whose connection is bounded."""

    secret = ""  # that it logged in with

    def _create_IMAP4(self) -> BoundedConnection:  # noqa: N802 (imapclient's name)
        context = self.ssl_context if self.ssl else None
        return BoundedConnection(self.host, self.port, context, self._timeout.connect)


def tls_context(account: Account, and_system: bool = False) -> ssl.SSLContext:
    """Trust the certificates that an account names, or else those of the system; or all of them."""
    try:
        context = ssl.create_default_context(cafile=account.ca_file or None)
    except OSError as error:
        raise DataError(f"ca_file {account.ca_file}: {error.strerror}") from None
    if and_system:
        context.load_default_certs()
    return context
