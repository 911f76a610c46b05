"""The client of imapclient, logged in, with bounds for what a server may send and no secret in any error."""

from __future__ import annotations

import imaplib
import ssl
import time
from base64 import b64encode
from contextlib import suppress
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING
from urllib.parse import quote

from spamnb.errors import DataError, UsageError
from spamnb.files import printable
from spamnb.imap.secrets import secret_of

try:
    from imapclient import IMAPClient, SocketTimeout, exceptions
except ImportError:
    raise UsageError("`spamnb imap` needs an extra: pip install 'spamnb[imap]'") from None

if TYPE_CHECKING:
    import socket

    from spamnb.imap.accounts import Account

__all__ = ["exceptions"]  # of imapclient: this module says what to do if it is missing

TIMEOUTS = SocketTimeout(connect=30, read=60)  # seconds without a byte
MOST_SECONDS = 900.0  # for all of an answer, however the bytes come: 4 MB at 5 kB a second
MOST_ANSWERED = 16 << 20  # bytes that a server may send in answer to a command; a million numbers take 8 MB
MOST_FETCHED = 64 << 20  # bytes of fetched text at once
LONGEST_REASON = 200  # characters of what a server says
BUSY = ("[LIMIT]", "[UNAVAILABLE]", "[INUSE]", "[SERVERBUG]")  # not the fault of who logs in
TELLING = 6  # characters of a secret in a row that are never shown

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


def logged_in(account: Account) -> Client:
    """Connect and log in. A token that is refused is asked for again, once: it may have run out."""
    try:
        return log_in(account, secret_of(account))
    except exceptions.LoginError:
        if not account.oauth2_token_command:
            raise
    return log_in(account, secret_of(account))


def log_in(account: Account, secret: str) -> Client:
    try:
        client = connect(account)
    except BaseException as error:
        hide(error, secret)  # it may know it from another time
        raise
    client.secret = secret
    try:
        if account.oauth2_token_command:
            if client.has_capability("AUTH=OAUTHBEARER"):
                client.oauthbearer_login(account.user, secret)
            else:
                client.oauth2_login(account.user, secret)
        elif client.has_capability("LOGINDISABLED") or not secret.isascii():
            client.plain_login(account.user, secret)
        else:
            client.login(account.user, secret)
        client._cached_capabilities = None  # there may be more now
    except BaseException as error:
        with suppress(Exception):
            client.shutdown()
        hide(error, secret)
        if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, imaplib.IMAP4.abort):
            raise exceptions.LoginError(*error.args) from None
        raise
    return client


def connect(account: Account) -> Client:
    try:
        context = (
            None if account.tls == "none" else ssl.create_default_context(cafile=account.ca_file or None)
        )
    except OSError as error:
        raise DataError(f"ca_file {account.ca_file}: {reason_of(error)}") from None
    implicit = account.tls == "implicit"
    client = Client(
        account.host,
        account.port_number,
        ssl=implicit,
        ssl_context=context if implicit else None,
        timeout=TIMEOUTS,
    )
    client._imap.debug = 0  # or each line would be formatted for a log that nobody reads
    if account.tls == "starttls":
        try:
            client.starttls(context)
        except BaseException:
            with suppress(Exception):
                client.shutdown()
            raise
    return client


def hide(error: BaseException, secret: str) -> None:
    """Take away what an error says if a piece of a secret is in it: a server may repeat what it is told.

    This is done before anything is shortened or made printable, which would make another of it.
    """
    text = said_by(error)
    data = secret.encode()
    forms = {secret, secret.replace("\\", r"\\").replace('"', r"\""), repr(data)[2:-1], quote(secret)}
    # As a login has it: somewhere within what is encoded. Four letters of base64 are three bytes.
    forms.update(b64encode(b"\0" * shift + data + b"\0" * 3)[4:-4].decode() for shift in range(3))
    for form in forms:
        size = min(TELLING, len(form))
        telling = {form[at : at + size] for at in range(len(form) - size + 1)} - {""}
        if any(text[at : at + size] in telling for at in range(len(text) - size + 1)):
            error.args = (next((code for code in BUSY if code in text), "…"),)
            return


def reason_of(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else said_by(error)
    return printable(" ".join(text.split()))[:LONGEST_REASON]


def said_by(error: BaseException) -> str:
    return " ".join(
        argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)
        for argument in error.args
    )
