"""A connection to the server of an account: folders, messages, flags and moves.

What the server or the network do wrong is an ImapError, in words that say what to do. After one that is
Broken, the connection is of no more use; after any other it is.
"""

from __future__ import annotations

import imaplib
import select
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from spamnb.errors import DataError, SpamnbError, UsageError
from spamnb.files import printable
from spamnb.imap.secrets import secret_of

try:
    from imapclient import IMAPClient, SocketTimeout
    from imapclient.exceptions import CapabilityError, LoginError, ProtocolError
except ImportError:
    raise UsageError("`spamnb imap` needs an extra: pip install 'spamnb[imap]'") from None

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

Item = TypeVar("Item")
TIMEOUTS = SocketTimeout(connect=30, read=60)  # seconds
LONGEST_REASON = 200  # characters of what a server says
LISTED = 1000  # messages whose flags or sizes are asked for at once
FETCHED = 200  # messages whose header blocks are fetched at once
FETCHED_BYTES = 4 << 20  # of messages fetched at once
SMALL = 64 << 10  # bytes: many such are fetched at once, few larger ones
LARGE = 1 << 20  # bytes: of a larger message, only the text is fetched, and as much of it
MOST_PARTS = 100  # of a message
BUSY = ("[LIMIT]", "[UNAVAILABLE]", "[INUSE]", "[SERVERBUG]")  # not the fault of who logs in
JUNK_KEYWORDS = ("$Junk", "Junk")  # of Apple Mail, K-9 and others; of Thunderbird
HAM_KEYWORDS = ("$NotJunk", "NonJunk", "NotJunk")


class ImapError(SpamnbError):
    """The server said no, or could not be understood."""


class Broken(ImapError):
    """The connection is lost, or was never made."""


class Full(ImapError):
    """The mailbox has no room for more."""


class NotLoggedIn(Broken):
    """The server refuses who we are, or how we say it."""


@dataclass(frozen=True)
class Folder:
    """A folder as it was when it was opened."""

    name: str
    validity: int  # of its numbers for messages
    next_uid: int
    modseq: int  # grows with every change; 0 if the server does not count them
    count: int
    takes_keywords: bool
    read_only: bool


@dataclass(frozen=True)
class Fetched:
    """A message, or what was fetched of a large one; `why` it was not, then without a text."""

    uid: int
    raw: bytes
    why: str = ""


class ImapConnection:
    """A connection to the server of an account, logged in; perhaps one that changes nothing there."""

    def __init__(self, account: Account, looks_only: bool = False) -> None:
        self.account = account
        self.looks_only = looks_only
        self.folder = ""  # that is open
        with self._explained("log in"):
            self.client = logged_in(account)
            self.capabilities = frozenset(
                name.decode("ascii", "replace") for name in self.client.capabilities()
            )

    def close(self) -> None:
        with suppress(Exception):
            self.client.socket().settimeout(5)
            self.client.logout()
        with suppress(Exception):
            self.client.shutdown()

    def cut_off(self) -> None:
        """End the connection for whoever waits for the server, in another thread."""
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

    def create(self, folder: str) -> None:
        with self._explained(f"create the folder {folder}"):
            self.client.create_folder(folder)

    def count(self, folder: str) -> int:
        """Count the messages of a folder, without opening it."""
        with self._explained(f"look at the folder {folder}"):
            return int(self.client.folder_status(folder, ["MESSAGES"])[b"MESSAGES"])

    def open(self, folder: str, read_only: bool = False) -> Folder:
        self.folder = ""
        with self._explained(f"open the folder {folder}"):
            answer = self.client.select_folder(folder, read_only or self.looks_only)
            if b"UIDNEXT" not in answer and not self.looks_only:
                # Courier: until a folder is opened for writing, its numbers of new messages are not for good.
                answer = self.client.select_folder(folder)
            flags = [flag.decode("ascii", "replace") for flag in answer.get(b"PERMANENTFLAGS", ())]
            opened = Folder(
                folder,
                int(answer[b"UIDVALIDITY"]),
                int(answer.get(b"UIDNEXT", 0)) or self._next_uid(folder),
                int(answer.get(b"HIGHESTMODSEQ", 0)),
                int(answer[b"EXISTS"]),
                "\\*" in flags or JUNK_KEYWORDS[0] in flags,
                b"READ-ONLY" in answer,
            )
        self.folder = folder
        return opened

    def _next_uid(self, folder: str) -> int:
        """Ask for what Courier does not say when it opens a folder."""
        return int(self.client.folder_status(folder, ["UIDNEXT"])[b"UIDNEXT"])

    def search(self, *criteria: str) -> list[int]:
        """Find messages of the open folder that are not deleted; their numbers in order."""
        with self._explained(f"search the folder {self.folder}"):
            return sorted(self.client.search(["UNDELETED", *criteria]))

    def from_uid(self, first: int, *criteria: str) -> list[int]:
        """Find the messages from a number on. The server names the last one, too, if all are below."""
        found = self.search("UID", f"{first}:*", *criteria)
        return [uid for uid in found if uid >= first]

    def heads(self, uids: Sequence[int], *names: str) -> Iterator[tuple[int, bytes]]:
        """Fetch the header block of messages, or the fields of some names."""
        section = f"HEADER.FIELDS ({' '.join(names)})" if names else "HEADER"
        for some in cut(uids, FETCHED):
            yield from self._sections(some, section)

    def _sections(self, uids: Sequence[int], section: str) -> Iterator[tuple[int, bytes]]:
        try:
            found = self._fetch(uids, f"BODY.PEEK[{section}]<0.{LARGE}>")
        except Broken:
            raise
        except ImapError:
            if len(uids) > 1:  # perhaps one of them is to blame
                for uid in uids:
                    yield from self._sections([uid], section)
            return
        for uid, answer in found.items():
            yield uid, text_of(answer)

    def messages(self, uids: Sequence[int]) -> Iterator[Fetched]:
        """Fetch messages, without marking them as read; those that are gone meanwhile are left out."""
        for some in cut(uids, LISTED):
            large = self._larger(LARGE, some)
            middle = self._larger(SMALL, some) - large
            small = [uid for uid in some if uid not in large and uid not in middle]
            for group in cut(small, FETCHED_BYTES // SMALL):
                yield from self._whole(group)
            for group in cut(sorted(middle), FETCHED_BYTES // LARGE):
                yield from self._whole(group)
            for uid in sorted(large):
                yield self._text_only(uid)

    def _larger(self, size: int, uids: Sequence[int]) -> set[int]:
        """Tell which messages are larger: quicker than to ask for the size of each."""
        with self._explained(f"search the folder {self.folder}"):
            return set(uids).intersection(
                self.client.search(["UID", f"{uids[0]}:{uids[-1]}", "LARGER", str(size)])
            )

    def _whole(self, uids: Sequence[int]) -> Iterator[Fetched]:
        try:
            found = self._fetch(uids, "BODY.PEEK[]")
        except Broken:
            raise
        except ImapError as error:
            if len(uids) == 1:
                yield Fetched(uids[0], b"", str(error))
            else:  # perhaps one of them is to blame
                for uid in uids:
                    yield from self._whole([uid])
            return
        for uid, answer in found.items():
            yield Fetched(uid, text_of(answer))

    def _text_only(self, uid: int) -> Fetched:
        """Fetch the parts with text of a large message, as a message that has no others."""
        for fetch in (self._text_parts, self._start):
            try:
                if raw := fetch(uid):
                    return Fetched(uid, raw)
                why = "nothing to read in it"
            except Broken:
                raise
            except ImapError as error:
                why = str(error)
        return Fetched(uid, b"", why)

    def _start(self, uid: int) -> bytes:
        return text_of(self._fetch([uid], f"BODY.PEEK[]<0.{LARGE}>").get(uid, {}))

    def _text_parts(self, uid: int) -> bytes:
        """Fetch header block and text parts; nothing if the message is not of several parts."""
        answer = self._fetch([uid], "BODYSTRUCTURE", f"BODY.PEEK[HEADER]<0.{LARGE}>").get(uid, {})
        structure = answer.get(b"BODYSTRUCTURE")
        boundary = boundary_of(structure)
        if not boundary:
            return b""
        pieces, left = [text_of(answer)], LARGE
        for section, length in text_sections(structure):
            wanted = min(length, left)
            if wanted <= 0:
                break
            part = self._fetch([uid], f"BODY.PEEK[{section}.MIME]", f"BODY.PEEK[{section}]<0.{wanted}>").get(
                uid
            )
            if part:
                mime = part.get(f"BODY[{section}.MIME]".encode()) or b"\r\n"
                pieces += [
                    b"--",
                    boundary,
                    b"\r\n",
                    mime,
                    part.get(f"BODY[{section}]<0>".encode()) or b"",
                    b"\r\n",
                ]
                left -= wanted
        return b"".join([*pieces, b"--", boundary, b"--\r\n"])

    def _fetch(self, uids: Sequence[int], *items: str) -> dict[int, dict[bytes, Any]]:
        with self._explained(f"read the folder {self.folder}"):
            found: dict[int, dict[bytes, Any]] = self.client.fetch(uids, items)
            return {uid: found[uid] for uid in uids if uid in found}  # servers tell of others, too

    def move(self, uids: Sequence[int], folder: str) -> dict[int, int]:
        """Move messages; return their new numbers, as far as the server tells."""
        with self._explained(f"move to {folder}"):
            self._new_uids()
            self.client.move(uids, folder)
            return self._new_uids()

    def copy(self, uids: Sequence[int], folder: str) -> dict[int, int]:
        """Copy messages; return the numbers of the copies, as far as the server tells."""
        with self._explained(f"copy to {folder}"):
            self._new_uids()
            self.client.copy(uids, folder)
            return self._new_uids()

    def _new_uids(self) -> dict[int, int]:
        """Take the COPYUID (RFC 4315) of the last answer: numbers before, and numbers after."""
        pairs: dict[int, int] = {}
        for line in self.client._imap.response("COPYUID")[1]:
            words = line.split() if line else []
            if len(words) == 3:
                before, after = numbers_in(words[1]), numbers_in(words[2])
                pairs.update(zip(before, after, strict=len(before) == len(after)))
        return pairs

    def flag(self, uids: Sequence[int], flag: str) -> None:
        with self._explained(f"flag in {self.folder}"):
            self.client.add_flags(uids, [flag], silent=True)

    def flags(self, uids: Sequence[int]) -> dict[int, frozenset[str]]:
        """Fetch the flags of those messages that are there."""
        return {
            uid: flags_of(answer)
            for some in cut(uids, FETCHED)
            for uid, answer in self._fetch(some, "FLAGS").items()
        }

    def remove(self, uids: Sequence[int]) -> None:
        """Remove just these messages, which are flagged as deleted. The server must have UIDPLUS."""
        with self._explained(f"remove from {self.folder}"):
            self.client.uid_expunge(uids)

    def wait(self, seconds: float, wake: int) -> None:
        """Wait for news in the open folder, for something to read at `wake`, or for some seconds."""
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
        """Turn whatever goes wrong into an ImapError. A server can make a client raise nearly anything."""
        try:
            yield
        except SpamnbError:
            raise
        except Exception as error:
            raise explained(error, self.account, doing) from None


def logged_in(account: Account) -> IMAPClient:
    """Connect and log in. A token that is refused is asked for again, once: it may have run out."""
    try:
        return log_in(account, secret_of(account))
    except LoginError:
        if not account.oauth2_token_command:
            raise
    return log_in(account, secret_of(account))


def log_in(account: Account, secret: str) -> IMAPClient:
    client = connect(account)
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
        if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, imaplib.IMAP4.abort):
            raise LoginError(reason_of(error).replace(secret, "…")) from None
        raise
    return client


def connect(account: Account) -> IMAPClient:
    try:
        context = (
            None if account.tls == "none" else ssl.create_default_context(cafile=account.ca_file or None)
        )
    except OSError as error:
        raise DataError(f"ca_file {account.ca_file}: {reason_of(error)}") from None
    implicit = account.tls == "implicit"
    client = IMAPClient(
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


def explained(error: Exception, account: Account, doing: str) -> ImapError:
    """Say what went wrong, and what to do."""
    where = f"{account.host}:{account.port_number}"
    if isinstance(error, socket.gaierror):
        return Broken(f"{account.host}: name not found; check `host`, and the network")
    if isinstance(error, ConnectionRefusedError):
        return Broken(f"{where}: refuses connections; check `port` and `tls`")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = printable(error.verify_message)
        return Broken(
            f"{where}: its certificate is not to be trusted ({why}); check `host`, or name a `ca_file`"
        )
    if isinstance(error, ssl.SSLError):
        return Broken(f"{where}: no TLS ({reason_of(error)}); check `port` and `tls`")
    if isinstance(error, TimeoutError):
        return Broken(f"{where}: no answer in time")
    if isinstance(error, LoginError) and any(code in reason_of(error) for code in BUSY):
        return Broken(f"{where}: busy ({reason_of(error)})")
    if isinstance(error, LoginError):
        return NotLoggedIn(f"{where}: login refused ({reason_of(error)}); check `user` and the password")
    if isinstance(error, CapabilityError):
        return Broken(f"{where}: {reason_of(error)}; check `tls`")
    if isinstance(error, imaplib.IMAP4.abort | OSError):
        return Broken(f"{where}: connection lost ({reason_of(error)})")
    text = reason_of(error)
    if isinstance(error, imaplib.IMAP4.readonly) or "READ-ONLY" in text:
        return ImapError(f"cannot {doing}: it is read-only here")
    if "OVERQUOTA" in text or "quota" in text.lower():
        return Full(f"cannot {doing}: the mailbox is full ({text}); make room")
    if "NOPERM" in text:
        return ImapError(f"cannot {doing}: the server does not allow it ({text})")
    if "TRYCREATE" in text or "NONEXISTENT" in text:
        return ImapError(f"cannot {doing}: it is not there ({text}); `spamnb imap check` lists what is")
    if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, ProtocolError):
        return ImapError(f"cannot {doing}: {text}")
    return ImapError(f"cannot {doing}: the answer makes no sense ({type(error).__name__}: {text})")


def reason_of(error: Exception) -> str:
    text = (
        error.strerror
        if isinstance(error, OSError) and error.strerror
        else " ".join(map(text_in, error.args))
    )
    return printable(" ".join(text.split()))[:LONGEST_REASON]


def text_in(argument: object) -> str:
    return argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)


def cut(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def flags_of(answer: dict[bytes, Any]) -> frozenset[str]:
    return frozenset(flag.decode("utf-8", "replace") for flag in answer.get(b"FLAGS", ()) if flag)


def text_of(answer: dict[bytes, Any]) -> bytes:
    """Take the text from an answer that has one."""
    found = next((value for name, value in answer.items() if name.startswith(b"BODY[")), None)
    return found if isinstance(found, bytes) else b""


def boundary_of(structure: Any) -> bytes:
    """Boundary between the parts of a message of several; nothing if it is not."""
    if not (isinstance(structure, tuple) and structure and isinstance(structure[0], list)):
        return b""
    for item in structure[2:]:
        if isinstance(item, tuple):
            names = dict(zip(item[::2], item[1::2], strict=False))
            for name, value in names.items():
                if isinstance(name, bytes) and name.lower() == b"boundary" and isinstance(value, bytes):
                    return value
    return b""


def text_sections(structure: Any) -> list[tuple[str, int]]:
    """List the parts of a message that are text: their numbers and sizes, in order."""
    found: list[tuple[str, int]] = []
    waiting = [("", structure)]
    while waiting and len(found) < MOST_PARTS:
        section, part = waiting.pop()
        if not isinstance(part, tuple) or not part:
            continue
        if isinstance(part[0], list):
            inner = [(f"{section}.{n}".lstrip("."), item) for n, item in enumerate(part[0], 1)]
            waiting += reversed(inner[:MOST_PARTS])
        elif (
            section and part[0] in (b"text", b"TEXT", b"Text") and len(part) > 6 and isinstance(part[6], int)
        ):
            found.append((section, part[6]))
    return found


def numbers_in(text: bytes) -> list[int]:
    """Expand a set of numbers: b"2,5:7" is 2, 5, 6, 7."""
    found: list[int] = []
    for piece in text.split(b","):
        first, _, last = piece.partition(b":")
        low, high = sorted((int(first), int(last or first)))
        found += range(low, min(high, low + LISTED) + 1)
    return found
