"""A connection to the server of an account: folders, searches, flags and moves.

Errors of the server and of the network are raised as ImapError, with a message that says what to do. After
`Broken`, which is an ImapError too, the connection cannot be used any more; after other ImapErrors it can.
"""

from __future__ import annotations

import imaplib
import select
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any

from spamnb.configuration.tables import WrongValue
from spamnb.errors import SpamnbError
from spamnb.imap.errors import IMAPClient, SocketTimeout, exceptions, explained, redact
from spamnb.imap.secrets import secret_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

MAX_UID, MAX_MODSEQ = (1 << 32) - 1, (1 << 63) - 1  # by RFC 3501 and 7162
MAX_COPIED = 1000  # UIDs of copies that are read from one answer
MAX_LINE = 16 << 20  # bytes of an answer to a search: a million numbers take 8 MB
TIMEOUTS = SocketTimeout(connect=30, read=60)  # seconds without a byte
JUNK_KEYWORDS = ("$Junk", "Junk")  # of Apple Mail, K-9 and others; of Thunderbird
KEYWORD = JUNK_KEYWORDS[0]  # the keyword that spamnb sets
HAM_KEYWORDS = ("$NotJunk", "NonJunk", "NotJunk")

imaplib._MAXLINE = MAX_LINE  # type: ignore[attr-defined]
getLogger("imapclient").addHandler(NullHandler())  # else answers that are not ASCII would be printed


@dataclass(frozen=True)
class Folder:
    """What the server reported about a folder when the folder was opened."""

    name: str
    validity: int  # of its UIDs (UIDVALIDITY)
    next_uid: int
    modseq: int  # grows with every change; 0 if the server does not count them
    takes_keywords: bool


class ImapConnection:
    """A logged-in connection to an account's server; with `looks_only`, it changes nothing there."""

    def __init__(self, account: Account, looks_only: bool = False) -> None:
        self.account = account
        self.looks_only = looks_only
        self.folder = ""  # name of the open folder
        self.doing = ""  # the last request, for error messages
        self.fetched = 0  # number of messages, whole or in part
        self.client: Any = None
        self.secret = ""
        with self._explained("log in"):
            try:
                self._log_in()
            except BaseException:
                self._hang_up()
                raise

    def _log_in(self) -> None:
        """Connect and log in. If a token is rejected, it may have expired: try once more with a new token."""
        self._connect()
        try:
            self._authenticate()
        except exceptions.LoginError:
            if not self.account.oauth2_token_command:
                raise
            self._hang_up()
            self._connect()
            self._authenticate()
        self.client._cached_capabilities = None  # after the login there may be more
        self.capabilities = frozenset(name.decode("ascii", "replace") for name in self.client.capabilities())
        if self.has("ENABLE") and self.has("CONDSTORE"):
            self.client.enable("CONDSTORE")  # else Dovecot does not send the number of the last change

    def _connect(self) -> None:
        account, context = self.account, None if self.account.tls == "none" else tls_context(self.account)
        self.secret = secret_of(account)
        is_implicit = account.tls == "implicit"
        self.client = IMAPClient(
            account.host,
            account.port_number,
            ssl=is_implicit,
            ssl_context=context if is_implicit else None,
            timeout=TIMEOUTS,
        )
        self.client.normalise_times = False  # dates have their time zone, and can be compared
        self.client._imap.debug = 0  # else each line would be formatted for a log that nobody reads
        if account.tls == "starttls":
            self.client.starttls(context)

    def _authenticate(self) -> None:
        """Log in by a method that both the account and the server support."""
        client, user = self.client, self.account.user
        try:
            if self.account.oauth2_token_command:
                if client.has_capability("AUTH=OAUTHBEARER"):
                    client.oauthbearer_login(user, self.secret)
                else:
                    client.oauth2_login(user, self.secret)
            elif client.has_capability("LOGINDISABLED") or not self.secret.isascii():
                client.plain_login(user, self.secret)
            else:
                quoted = user.replace("\\", r"\\").replace('"', r"\"")
                client.login(f'"{quoted}"', self.secret)  # imaplib quotes the password only
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as error:
            raise exceptions.LoginError(*error.args) from None

    def close(self) -> None:
        with suppress(Exception):
            self.client.socket().settimeout(5)
            self.client.logout()
        self._hang_up()

    def _hang_up(self) -> None:
        with suppress(Exception):
            self.client.shutdown()

    def cut_off(self) -> None:
        """Close the connection, even while another thread waits for an answer of the server."""
        with suppress(Exception):
            self.client.socket().shutdown(socket.SHUT_RDWR)

    def has(self, capability: str) -> bool:
        return capability in self.capabilities

    def folders(self) -> list[tuple[str, frozenset[str]]]:
        """List the folders that can be opened, with their flags in lower case."""
        with self._explained("list folders"):
            found = []
            for flags, _, name in self.client.list_folders():
                lower = frozenset(flag.decode("ascii", "replace").lower() for flag in flags)
                if not lower & {"\\noselect", "\\nonexistent"}:
                    found.append((str(name), lower))
            return found

    def count(self, folder: str) -> int:
        """Return the number of messages in a folder, without opening the folder."""
        with self._explained(f"look at the folder {folder}"):
            return self._status(folder, "MESSAGES")

    def _status(self, folder: str, item: str) -> int:
        return in_range(self.client.folder_status(folder, [item])[item.encode()])

    def open(self, folder: str, read_only: bool = False) -> Folder:
        self.folder = ""
        with self._explained(f"open the folder {folder}"):
            is_examined = read_only or self.looks_only  # then the server does not say which flags it keeps
            answer = self.client.select_folder(folder, is_examined)
            if b"UIDNEXT" not in answer and not self.looks_only:
                # Courier may still change the UIDs of new messages until a folder is opened for writing.
                answer = self.client.select_folder(folder)
            flags = [flag.decode("ascii", "replace") for flag in answer.get(b"PERMANENTFLAGS", ())]
            opened = Folder(
                folder,
                in_range(answer[b"UIDVALIDITY"]),
                in_range(answer.get(b"UIDNEXT", 0)) or self._status(folder, "UIDNEXT"),
                in_range(answer.get(b"HIGHESTMODSEQ", 0), MAX_MODSEQ),
                is_examined or "\\*" in flags or JUNK_KEYWORDS[0] in flags,
            )
        self.folder = folder
        return opened

    def search(self, *criteria: str) -> list[int]:
        """Return the UIDs, sorted, of messages in the open folder that match `criteria` of IMAP's SEARCH."""
        with self._explained(f"search the folder {self.folder}"):
            return sorted(map(in_range, set(self.client.search(criteria or "ALL"))))

    def from_uid(self, first: int, *criteria: str) -> list[int]:
        """Search messages with UIDs from `first` on that are not flagged as deleted; return their UIDs."""
        found = self.search("UNDELETED", "UID", f"{first}:*", *criteria)
        return [uid for uid in found if uid >= first]  # if none is that high, the server returns the highest

    def fetch(self, uids: Sequence[int], item: str) -> dict[int, dict[bytes, Any]]:
        """Fetch `item`, such as FLAGS, of messages; return {UID: answer} for those of `uids` that exist."""
        with self._explained(f"read the folder {self.folder}"):
            found: dict[int, dict[bytes, Any]] = self.client.fetch(uids, item)
            self.fetched += len(uids)
            return {uid: found[uid] for uid in uids if uid in found}

    def move(self, uids: Sequence[int], folder: str) -> dict[int, int]:
        """Move messages, or copy them if the server cannot move; return the {old UID: new UID} it reports."""
        verb = "move" if self.has("MOVE") else "copy"
        with self._explained(f"{verb} to {folder}"):
            self._copied_uids()
            getattr(self.client, verb)(uids, folder)
            return self._copied_uids()

    def _copied_uids(self) -> dict[int, int]:
        """Return {old UID: new UID} from COPYUID (RFC 4315) in the server's last answer."""
        pairs: dict[int, int] = {}
        for line in self.client._imap.response("COPYUID")[1]:
            words = line.split() if line else []
            if len(words) == 3:
                before, after = uids_in(words[1]), uids_in(words[2])
                pairs.update(zip(before, after, strict=len(before) == len(after)))
        return pairs

    def append(self, folder: str, raw: bytes) -> None:
        """Write a message into a folder, marked as unread."""
        with self._explained(f"write to {folder}"):
            self.client.append(folder, raw)

    def flag(self, uids: Sequence[int], flag: str) -> None:
        with self._explained(f"flag in {self.folder}"):
            self.client.add_flags(uids, [flag], silent=True)

    def remove(self, uids: Sequence[int]) -> None:
        """Delete messages for good. They must be flagged as deleted, and the server must support UIDPLUS."""
        with self._explained(f"remove from {self.folder}"):
            self.client.uid_expunge(uids)

    def wait(self, seconds: float, wake: int) -> None:
        """Wait until the server reports a change (IDLE), `wake` has a byte to read, or `seconds` are over."""
        if not self.has("IDLE"):
            select.select([wake], [], [], seconds)
            return
        with self._explained("wait for mail"):
            self.client.idle()
            connection = self.client.socket()
            if not getattr(connection, "pending", int)():
                select.select([connection, wake], [], [], seconds)
            self.client.idle_done()

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        """Turn any exception into an ImapError that says what failed (`doing`) and why."""
        self.doing = doing
        try:
            yield
        except SpamnbError:
            raise
        except Exception as error:
            redact(error, self.secret)
            raise explained(error, self.account, doing) from None


def tls_context(account: Account) -> ssl.SSLContext:
    """Make a TLS context that trusts the `ca_file` of an account, or else the system's certificates."""
    try:
        return ssl.create_default_context(cafile=account.ca_file or None)
    except OSError as error:
        raise WrongValue("ca_file", f"ca_file {account.ca_file}: {error.strerror}") from None


def in_range(value: Any, most: int = MAX_UID) -> int:
    """Return a value from the server as a number; raise ValueError if the number is not from 0 to `most`."""
    found = int(value)
    if not 0 <= found <= most:
        raise ValueError(f"the number {found} is out of range")
    return found


def uids_in(text: bytes) -> list[int]:
    """Return the UIDs in a set as IMAP writes it: b"2,5:7" is [2, 5, 6, 7]."""
    found: list[int] = []
    for piece in text.split(b",", MAX_COPIED):
        first, _, last = piece.partition(b":")
        low, high = sorted((in_range(first), in_range(last or first)))
        found += range(low, min(high, low + MAX_COPIED - len(found)) + 1)
    return found
