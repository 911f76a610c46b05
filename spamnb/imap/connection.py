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

from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.imap.client import BUSY, MOST_ANSWERED, MOST_FETCHED, exceptions, hide, logged_in, reason_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

Item = TypeVar("Item")
LISTED = 1000  # messages whose flags or sizes are asked for at once
FETCHED = 200  # messages whose header blocks are fetched at once
FETCHED_BYTES = 4 << 20  # of messages fetched at once
SMALL = 64 << 10  # bytes: many such are fetched at once, few larger ones
LARGE = 1 << 20  # bytes: of a larger message, only the text is fetched, and as much of it
HEAD = 256 << 10  # bytes that are fetched of a header block; no more of it is read
MOST_PARTS = 100  # of a message
MOST_UID, MOST_MODSEQ = (1 << 32) - 1, (1 << 63) - 1  # by RFC 3501 and 7162
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
        self.client: Any = None
        with self._explained("log in"):
            self.client = logged_in(account)
            self.capabilities = frozenset(
                name.decode("ascii", "replace") for name in self.client.capabilities()
            )

    def close(self) -> None:
        with suppress(Exception):
            self.client.socket().settimeout(5)
            self.client._imap.seconds = 5
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
            return number(self.client.folder_status(folder, ["MESSAGES"])[b"MESSAGES"])

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
                number(answer[b"UIDVALIDITY"]),
                number(answer.get(b"UIDNEXT", 0)) or self._next_uid(folder),
                number(answer.get(b"HIGHESTMODSEQ", 0), MOST_MODSEQ),
                number(answer[b"EXISTS"]),
                "\\*" in flags or JUNK_KEYWORDS[0] in flags,
                b"READ-ONLY" in answer,
            )
        self.folder = folder
        return opened

    def _next_uid(self, folder: str) -> int:
        """Ask for what Courier does not say when it opens a folder."""
        return number(self.client.folder_status(folder, ["UIDNEXT"])[b"UIDNEXT"])

    def search(self, *criteria: str) -> list[int]:
        """Find messages of the open folder that are not deleted; their numbers in order."""
        with self._explained(f"search the folder {self.folder}"):
            return sorted(map(number, set(self.client.search(["UNDELETED", *criteria]))))

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
            found = self._fetch(uids, len(uids) * HEAD, f"BODY.PEEK[{section}]<0.{HEAD}>")
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
            found = self._fetch(uids, FETCHED_BYTES, "BODY.PEEK[]")
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
        return text_of(self._fetch([uid], LARGE, f"BODY.PEEK[]<0.{LARGE}>").get(uid, {}))

    def _text_parts(self, uid: int) -> bytes:
        """Fetch header block and text parts; nothing if the message is not of several parts."""
        items = ("BODYSTRUCTURE", f"BODY.PEEK[HEADER]<0.{HEAD}>")
        answer = self._fetch([uid], MOST_FETCHED, *items).get(uid, {})  # names of parts can be of any length
        structure = answer.get(b"BODYSTRUCTURE")
        boundary = boundary_of(structure)
        if not boundary:
            return b""
        pieces, left = [text_of(answer)], LARGE
        for section, length in text_sections(structure):
            wanted = min(length, left)
            if wanted <= 0:
                break
            items = (f"BODY.PEEK[{section}.MIME]<0.{HEAD}>", f"BODY.PEEK[{section}]<0.{wanted}>")
            part = self._fetch([uid], HEAD + wanted, *items).get(uid)
            if part:
                mime = part.get(f"BODY[{section}.MIME]<0>".encode()) or b"\r\n"
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

    def _fetch(self, uids: Sequence[int], size: int, *items: str) -> dict[int, dict[bytes, Any]]:
        """Fetch items of messages, at most `size` bytes of text; servers tell of other messages, too."""
        with self._explained(f"read the folder {self.folder}", FETCHED_BYTES + size):
            found: dict[int, dict[bytes, Any]] = self.client.fetch(uids, items)
            return {uid: found[uid] for uid in uids if uid in found}

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
            for uid, answer in self._fetch(some, 0, "FLAGS").items()
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
            if not (self.client._imap.received or getattr(connection, "pending", int)()):
                select.select([connection, wake], [], [], seconds)
            self.client._imap.start_clock()
            self.client.idle_done()

    @contextmanager
    def _explained(self, doing: str, most: int = MOST_ANSWERED) -> Iterator[None]:
        """Turn whatever goes wrong into an ImapError. A server can make a client raise nearly anything.

        It may send so many bytes in answer to a command.
        """
        try:
            if self.client:
                self.client._imap.most = most
            yield
        except SpamnbError:
            raise
        except Exception as error:
            if self.client:
                hide(error, self.client.secret)
            raise explained(error, self.account, doing) from None


def explained(error: Exception, account: Account, doing: str) -> ImapError:
    """Say what went wrong, and what to do."""
    where = f"{account.host}:{account.port_number}"
    if isinstance(error, socket.gaierror):
        return Broken(f"{account.host}: name not found; check `host`, and the network")
    if isinstance(error, ConnectionRefusedError):
        return Broken(f"{where}: refuses connections; check `port` and `tls`")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = printable(error.verify_message)
        return Broken(f"{where}: its certificate is not trusted ({why}); check `host`, or set `ca_file`")
    if isinstance(error, ssl.SSLError):
        return Broken(f"{where}: no TLS ({reason_of(error)}); check `port` and `tls`")
    if isinstance(error, TimeoutError):
        return Broken(f"{where}: no answer in time")
    if isinstance(error, exceptions.LoginError) and any(code in reason_of(error) for code in BUSY):
        return Broken(f"{where}: busy ({reason_of(error)})")
    if isinstance(error, exceptions.LoginError):
        return NotLoggedIn(f"{where}: login refused ({reason_of(error)}); check `user` and the password")
    if isinstance(error, exceptions.CapabilityError):
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
        return ImapError(f"cannot {doing}: it does not exist ({text}); `spamnb imap check` lists the folders")
    if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, exceptions.ProtocolError):
        return ImapError(f"cannot {doing}: {text}")
    return ImapError(f"cannot {doing}: the answer makes no sense ({type(error).__name__}: {text})")


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


def number(value: Any, most: int = MOST_UID) -> int:
    """Return a number that a server sent; one that no server can mean is an error."""
    found = int(value)
    if not 0 <= found <= most:
        raise ValueError("a number out of range")
    return found


def numbers_in(text: bytes) -> list[int]:
    """Expand a set of numbers: b"2,5:7" is 2, 5, 6, 7."""
    found: list[int] = []
    for piece in text.split(b",", LISTED):
        first, _, last = piece.partition(b":")
        low, high = sorted((number(first), number(last or first)))
        found += range(low, min(high, low + LISTED - len(found)) + 1)
    return found
