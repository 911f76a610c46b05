"""A mailbox on an IMAP server, which tests read and change with a client other than spamnb."""

import os
import re
import shutil
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from imapclient import IMAPClient
from imapclient.imap_utf7 import encode

from helpers.homes import hand_over
from helpers.waiting import PATIENCE

HOST, USER, PASSWORD = "127.0.0.1", "bob", 'correct"horse'
FOLDERS = tuple((name, name) for name in ("Archive", "Drafts", "Junk", "Sent", "Trash"))
GMAIL = (
    *(("[Gmail]/All Mail", "All"), ("[Gmail]/Drafts", "Drafts"), ("[Gmail]/Sent Mail", "Sent")),
    *(("[Gmail]/Spam", "Junk"), ("[Gmail]/Starred", "Flagged"), ("[Gmail]/Trash", "Trash")),
)
GERMAN = tuple((name, "") for name in ("Archiv", "Entwürfe", "Gesendet", "Papierkorb", "Spamverdacht"))


class Stored(NamedTuple):
    """A message as it is on the server."""

    uid: int
    flags: frozenset[str]
    date: datetime
    digest: str


class ImapMailbox:
    """One user's Maildir, and the IMAP server on this machine that gives access to it."""

    host, user, password, port = HOST, USER, PASSWORD, 0
    separator, prefix = "/", ""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="spamnb-", ignore_cleanup_errors=True)
        self.root = Path(self._temporary.name)
        self.root.chmod(0o755)
        self.home_path = self.root / "home"
        self.maildir = self.home_path / "Maildir"
        self.home_path.mkdir()

    def connect(self):
        client = IMAPClient(HOST, self.port, ssl=False, timeout=PATIENCE)
        client.login(USER, PASSWORD)
        return client

    def opened(self, folder):
        client = self.connect()
        client.select_folder(folder)
        return client

    def name(self, *parts):
        """Return the name of a folder on this server: `name("Junk")` may be `INBOX.Junk`."""
        return self.prefix + self.separator.join(parts)

    def create(self, folder):
        with self.connect() as client:
            client.create_folder(folder)

    def append(self, folder, raw, flags="", when=None):
        """Put a message into a folder as a mail reader does; `when`, in seconds, is its INTERNALDATE."""
        with self.connect() as client:
            client.append(
                folder, as_on_the_wire(raw), flags.split(), when and datetime.fromtimestamp(when, UTC)
            )

    def fill(self, folder, messages):
        """Write messages straight into the folder's Maildir, not through the server: 50,000 in seconds."""
        path = self.path(folder)
        make_maildir(path, folder=path != self.maildir)
        start = time.time_ns()
        for place, raw in enumerate(messages):  # os.open: a third of the time
            file = os.open(f"{path}/cur/{start}.{place:06}.fill:2,", os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(file, raw)
            os.close(file)
        hand_over(path)

    def move(self, source, uid, target):
        """Move a message to the folder `target`, as the user does with a mail reader."""
        with self.opened(source) as client:
            client.copy(uid, target)
            client.delete_messages(uid)
            client.expunge()

    def flag(self, folder, uid, added, removed=()):
        """Add flags to a message and remove others, as a mail reader does."""
        with self.opened(folder) as client:
            client.remove_flags(uid, removed)
            client.add_flags(uid, added)

    def read_only(self, folder, rights="lrs"):
        """Let the server refuse changes in a folder, and new messages, until `writable` or `wipe`."""
        (self.path(folder) / "dovecot-acl").write_text(f"owner {rights}\n")
        hand_over(self.path(folder))

    def writable(self, folder):
        """Allow changes in a folder again, after `read_only`."""
        (self.path(folder) / "dovecot-acl").unlink()

    def validity(self, folder):
        with self.connect() as client:
            return client.select_folder(folder)[b"UIDVALIDITY"]

    def contents(self):
        """Return all messages: {folder: [Stored(uid, flags, date, digest), ...]}."""
        with self.connect() as client:
            names = [name for flags, _, name in client.list_folders() if rb"\Noselect" not in flags]
            return {name: messages_in(client, name) for name in names}

    def path(self, folder):
        """Return the path of a folder's Maildir."""
        inner = folder.removeprefix(self.prefix).replace(self.separator, ".")
        return self.maildir if inner == "INBOX" else self.maildir / f".{encode(inner).decode()}"

    def wipe(self):
        """Replace all folders by empty ones, which is faster than a new server."""
        old = self.root / f"wiped-{time.time_ns()}"
        with suppress(FileNotFoundError):
            self.maildir.rename(old)  # at once, as somebody may still be writing in it
        shutil.rmtree(old, ignore_errors=True)
        make_maildir(self.maildir)
        hand_over(self.home_path)


def make_maildir(path, folder=False):
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    if folder:
        (path / "maildirfolder").touch()


def as_on_the_wire(raw):
    return re.sub(rb"\r?\n", b"\r\n", raw)


def digest(raw):
    """Return the digest of a message, as in `Stored`."""
    return sha256(as_on_the_wire(raw)).hexdigest()[:16]


def messages_in(client, folder):
    client.select_folder(folder, readonly=True)
    found = client.fetch(client.search(), ["FLAGS", "INTERNALDATE", "BODY.PEEK[]"]).items()
    return sorted(
        Stored(uid, flags_of(about), about[b"INTERNALDATE"], digest(raw))
        for uid, about in found
        if (raw := about.get(b"BODY[]")) is not None  # else it was moved away while it was fetched
    )


def flags_of(about):
    return frozenset(flag.decode() for flag in about[b"FLAGS"]) - {r"\Recent"}
