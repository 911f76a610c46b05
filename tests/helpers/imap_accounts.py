"""Run `spamnb imap` in a home folder made for a test, with configuration, model and state."""

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

from helpers.imap_mailbox import HOST
from helpers.imap_mailbox import digest as digest_of
from spamnb.core.native import hash_of_message, read
from spamnb.history.queries import History
from spamnb.imap.accounts import Account
from spamnb.imap.state import Progress, State
from spamnb.review.corrections import correct, undo
from spamnb.store.stored_model import StoredModel

NEAR = b"Subject: xyzzy %d\nFrom: Carl <carl@example.net>\n\nplugh frobnicate, said the %d\n"


class ImapHome:
    """A home folder in which `spamnb imap` runs as one user."""

    def __init__(self, spamnb, path):
        self.spamnb = spamnb
        self.path = Path(path)
        self.model = str(self.path / "model.msgpack")
        self.config = self.path / ".config" / "spamnb" / "imap.toml"
        self.password_file = self.path / "password"
        self.config.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(spamnb.model, self.model)

    @property
    def environment(self):
        return self.spamnb.environment | {"HOME": str(self.path), "SPAMNB_MODEL": self.model}

    def add(self, server, name="home", port=None, is_trained=True, **values):
        """Add an account to the configuration; with `is_trained`, as if its mail were trained already."""
        self.password_file.write_text(f"{server.password}\n")
        facts = {"host": HOST, "port": port or server.port, "tls": "none", "user": server.user}
        facts |= {"password_file": str(self.password_file), "action": "move"} | values
        old = self.config.read_text() if self.config.exists() else ""
        sort = facts.pop("sort", None)
        lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items() if value is not None]
        if sort:
            lines.append(f"[account.{name}.sort]")
            lines += [f"{label} = {json.dumps(folder)}" for label, folder in sort.items()]
        self.config.write_text(f"{old}[account.{name}]\n" + "\n".join(lines) + "\n")
        if is_trained:
            account = Account(name, values.get("host", HOST), server.user, keyring=True)
            with State(account, str(self.state_path().parent)) as state, state.change():
                state.advance("trained", "elsewhere", Progress(1))

    def change(self, server, **values):
        """Write the configuration again, with a single account."""
        self.config.unlink(missing_ok=True)
        self.add(server, **values)

    def __call__(self, *arguments):
        return self.spamnb("imap", *arguments, env=self.environment)

    def run(self, *arguments):
        """Run `spamnb imap run`, which must succeed; return an event for each message that it handled."""
        done = self("run", "--json", *arguments)
        assert (done.code, done.err) == (0, b""), done
        return [json.loads(line) for line in done.lines]

    def outcomes(self, *arguments):
        """Do `run`; return (label learned or verdict, what was done) for each message."""
        return [
            (event.get("learned") or event.get("verdict"), event["what"]) for event in self.run(*arguments)
        ]

    def label_of(self, raw):
        """Return the label under which the model has learned a message."""
        return StoredModel.open(self.model).label_of(hash_of_message(read(raw)))

    @property
    def history_path(self):
        return self.path / ".local" / "state" / "spamnb" / "history"

    @contextmanager
    def history(self, raw):
        """Open the history; yield it, and its entries about a message."""
        with History.open(str(self.history_path)) as history:
            history.gather()
            yield history, [one for one in history.entries() if one.digest == hash_of_message(read(raw))]

    def mark(self, raw, label):
        """Correct a message as a click on the review page does; without a label, undo the correction."""
        with self.history(raw) as (history, found):
            ids = [entry.id for entry in found]
            correct(history, ids, label) if label else undo(history, ids)

    def state_path(self, name="home"):
        return self.path / ".local" / "state" / "spamnb" / "imap" / f"{name}.sqlite"

    def state(self, name="home"):
        """Return the stored state of an account: {table: its rows}."""
        with closing(sqlite3.connect(self.state_path(name))) as database:
            names = [
                name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in names}

    def files(self):
        """Return {path: bytes} of all files in the home, except locks and SQLite's temporary files."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and not path.name.endswith(("-shm", "-wal", ".lock"))
        }


def only(messages):
    (message,) = messages
    return message


def folders(server):
    """Return {folder: its messages}, without messages flagged as deleted, and without empty folders."""
    found = {}
    for name, messages in server.contents().items():
        kept = [message for message in messages if r"\Deleted" not in message.flags]
        if kept:
            found[name] = kept
    return found


def near(n):
    """Return a message of whose words the model has learned nothing."""
    return NEAR % (n, n)


def uid_of(server, folder, raw):
    return only(
        message.uid
        for message in server.contents()[folder]
        if message.digest == digest_of(raw) and r"\Deleted" not in message.flags
    )


def move(server, raw, source, target):
    server.move(source, uid_of(server, source, raw), target)


def train(home, *options):
    """Run `spamnb imap train`; return how many messages were learned."""
    return home("train", "--json", *options).succeeds().json["learned"]


def places(server):
    """Return {digest of a message: its folder}."""
    return {message.digest: name for name, found in folders(server).items() for message in found}
