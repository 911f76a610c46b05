"""A mailbox on an IMAP server, as tests see and change it: with Python's own client, not with ours."""

import base64
import imaplib
import os
import re
import shutil
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from helpers.homes import hand_over
from helpers.waiting import PATIENCE

imaplib._MAXLINE = 10_000_000  # type: ignore[attr-defined]  # the UIDs of 50,000 messages are one line

HOST, USER, PASSWORD = "127.0.0.1", "bob", 'correct"horse'
FOLDERS = ("Archive", "Drafts", "Junk", "Sent", "Trash")
LISTED = re.compile(rb'\(([^)]*)\) (?:"\\?."|NIL) "?(.*?)"?', re.DOTALL)


class Stored(NamedTuple):
    """A message as the server has it."""

    uid: int
    flags: frozenset[str]
    date: str
    digest: str


class ImapMailbox:
    """One user's Maildir, behind a server on this machine."""

    host, user, password, port = HOST, USER, PASSWORD, 0
    separator, prefix = "/", ""
    made: tuple[str, ...] = ()  # folders that are there from the start, if the server makes none

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="spamnb-", ignore_cleanup_errors=True)
        self.root = Path(self._temporary.name)
        self.root.chmod(0o755)
        self.home_path = self.root / "home"
        self.maildir = self.home_path / "Maildir"
        self.home_path.mkdir()

    def connect(self, login=True):
        client = imaplib.IMAP4(HOST, self.port, timeout=PATIENCE)
        if login:
            client.login(USER, PASSWORD)
        return client

    def name(self, *parts):
        """A folder as this server calls it: `name("Junk")` may be `INBOX.Junk`."""
        return self.prefix + self.separator.join(parts)

    def create(self, folder):
        with self.connect() as client:
            done(client.create(quoted(folder)))

    def append(self, folder, raw, flags="", when=None):
        """Put a message there as a mail reader does; `when`, in seconds, is its INTERNALDATE."""
        date = when and imaplib.Time2Internaldate(when)
        with self.connect() as client:
            done(client.append(quoted(folder), f"({flags})", date, as_on_the_wire(raw)))

    def fill(self, folder, messages):
        """Put many messages there, past the server: 50,000 in seconds."""
        path = self.path(folder)
        make_maildir(path, folder=path != self.maildir)
        start = time.time_ns()
        for place, raw in enumerate(messages):  # os.open: a third of the time
            file = os.open(f"{path}/cur/{start}.{place:06}.fill:2,", os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(file, raw)
            os.close(file)
        hand_over(path)

    def move(self, source, uid, target):
        """Do what the user does with another mail reader."""
        with self.connect() as client:
            done(client.select(quoted(source)))
            done(client.uid("COPY", str(uid), quoted(target)))
            done(client.uid("STORE", str(uid), "+FLAGS", r"(\Deleted)"))
            done(client.uid("EXPUNGE", str(uid)))

    def flag(self, folder, uid, change, flags):
        """Change flags as another mail reader does: `flag("INBOX", 1, "+FLAGS", "$NotJunk")`."""
        with self.connect() as client:
            done(client.select(quoted(folder)))
            done(client.uid("STORE", str(uid), change, f"({flags})"))

    def folders(self):
        """Each folder that can be opened, with its attributes."""
        with self.connect() as client:
            return listed(client)

    def contents(self):
        """Every message of every folder: {folder: [Stored(uid, flags, date, digest), ...]}."""
        with self.connect() as client:
            return {folder: messages_in(client, folder) for folder in listed(client)}

    def on_disk(self, name):
        return to_utf7(name)

    def path(self, folder):
        """A folder's Maildir."""
        inner = folder.removeprefix(self.prefix).replace(self.separator, ".")
        return self.maildir if inner == "INBOX" else self.maildir / f".{self.on_disk(inner)}"

    def wipe(self):
        """Begin anew with empty folders: quicker than a new server."""
        old = self.root / f"wiped-{time.time_ns()}"
        with suppress(FileNotFoundError):
            self.maildir.rename(old)  # at once, as somebody may still be writing in it
        shutil.rmtree(old, ignore_errors=True)
        make_maildir(self.maildir)
        for folder in self.made:
            make_maildir(self.path(folder), folder=True)
        hand_over(self.home_path)


def make_maildir(path, folder=False):
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    if folder:
        (path / "maildirfolder").touch()


def as_on_the_wire(raw):
    return re.sub(rb"\r?\n", b"\r\n", raw)


def digest(raw):
    """What `Stored` says of a message's bytes."""
    return sha256(as_on_the_wire(raw)).hexdigest()[:16]


def to_utf7(name):
    """Write a folder's name in IMAP's own UTF-7."""

    def shifted(found):
        code = base64.b64encode(found[0].encode("utf-16-be"), b"+,").decode().rstrip("=")
        return f"&{code}-"

    return re.sub(r"[^ -~]+", shifted, name.replace("&", "&-"))


def from_utf7(name):
    def plain(found):
        padded = found[1] + "=" * (-len(found[1]) % 4)
        return base64.b64decode(padded, b"+,").decode("utf-16-be") or "&"

    return re.sub(r"&([^-]*)-", plain, name)


def quoted(folder):
    return '"' + re.sub(r'(["\\])', r"\\\1", to_utf7(folder)) + '"'


def done(answer):
    status, data = answer
    assert status == "OK", data
    return data


def listed(client):
    found = {}
    for line in done(client.list()):
        head, literal = line if isinstance(line, tuple) else (line, b"")
        match = LISTED.fullmatch(head)
        assert match, line
        attributes = match[1].decode().split()
        if r"\Noselect" not in attributes:
            name = literal or re.sub(rb"\\(.)", rb"\1", match[2])
            found[from_utf7(name.decode())] = attributes
    return found


def messages_in(client, folder):
    done(client.select(quoted(folder), readonly=True))
    found: list = []
    for part in done(client.uid("FETCH", "1:*", "(UID FLAGS INTERNALDATE BODY.PEEK[])")):
        if isinstance(part, tuple):
            found.append(part)
        elif part and found:  # what stands after the message
            found[-1] = (found[-1][0] + part, found[-1][1])
    return sorted(stored(about.decode(), raw) for about, raw in found)


def stored(about, raw):
    def field(pattern):
        match = re.search(pattern, about)
        assert match, about
        return match[1]

    flags = frozenset(field(r"FLAGS \(([^)]*)\)").split()) - {r"\Recent"}
    return Stored(int(field(r"UID (\d+)")), flags, field(r'INTERNALDATE "\s*([^"]*)"'), digest(raw))
