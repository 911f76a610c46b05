"""The mailbox of an account during a visit: connection, state, and functions that all steps share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from spamnb.configuration import Configuration, load
from spamnb.core.native import hash_of_message, read
from spamnb.delivery.commands import open_history
from spamnb.errors import SetAside, SpamnbError
from spamnb.history.log import HistoryLog, complain_once
from spamnb.history.queries import History
from spamnb.imap.accounts import NOTHING
from spamnb.imap.errors import Broken, ImapError
from spamnb.imap.fetch import heads, messages
from spamnb.imap.folders import roles_in
from spamnb.imap.own_mail import is_own
from spamnb.imap.state import Progress, Record, key_of
from spamnb.reading.envelope import envelope_of, read_envelope, sender_once
from spamnb.store.changes import KNOWN
from spamnb.training.learn import learn, learned_label

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import Folder, ImapConnection
    from spamnb.imap.fetch import Fetched
    from spamnb.imap.state import State
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

Found = TypeVar("Found")
DELETED = "\\Deleted"
MAX_GATHERING = 2.0  # seconds to copy verdicts into the history; the next copying continues there


@dataclass(frozen=True)
class Event:
    """A report on what was done with a message, or on an error."""

    account: str
    folder: str = ""
    uid: int = 0
    verdict: str = ""
    score: float | None = None
    learned: str = ""  # label that it was learned under
    what: str = ""  # what was done, would be done, or failed
    target: str = ""  # folder that it was moved to
    flag: str = ""  # keyword that it was given
    is_rescued: bool = False  # the provider put it into Junk, but it is surely ham
    planned: bool = False  # not done because of the account's `action`, or a dry run
    failed: bool = False
    since: float | None = None  # when it was judged, if it could not be moved then
    sender: str = ""
    subject: str = ""

    def as_map(self) -> dict[str, Any]:
        facts = asdict(self).items()
        return {name: value for name, value in facts if value or (name == "score" and value is not None)}


Report = Callable[[Event], None]


def look_into(
    connection: ImapConnection, state: State, name: str, purpose: str
) -> tuple[Folder, Progress, list[int]]:
    """Open a folder read-only; return it, how far it was read for `purpose`, and UIDs of newer messages."""
    folder = connection.open(name, read_only=True)
    before = state.progress(purpose, name)
    first = before.next_uid if before.validity == folder.validity else 1
    return folder, before, connection.from_uid(first) if first < folder.next_uid else []


def history_of(account: Account, configuration: Configuration) -> HistoryLog | None:
    """Return the log of the history, or None if verdicts on this account's mail are not stored there."""
    keeps = configuration["history"] if account.history is None else account.history
    return open_history(True, configuration) if keeps else None


@dataclass
class VisitedMailbox:
    """The mailbox of an account during a visit; with `dry_run` nothing is changed."""

    account: Account
    connection: ImapConnection
    state: State
    model: str
    report: Report
    dry_run: bool = False

    def __post_init__(self) -> None:
        self.roles = roles_in(self.account, self.connection.folders(), self.report_failure)
        self.put_away = self.roles.put_away
        self.folders = tuple(dict.fromkeys((*self.roles.inbox, *self.put_away, *self.roles.ham)))
        self.unreported: dict[bytes, Event] = {}  # by key, about messages that must be moved or flagged
        self.failed: set[str] = set()  # folders in which a step of this visit failed
        self.configuration = load()
        self.history = None if self.dry_run else history_of(self.account, self.configuration)
        self.changes_nothing = self.dry_run or self.account.action == NOTHING

    def attempt(self, step: Callable[[str], None], folder: str) -> None:
        """Call `step` for a folder. Report an error and go on, unless the connection is lost."""
        try:
            step(folder)
        except Broken:
            raise
        except ImapError as error:
            self.failed.add(folder)
            self.report_failure(folder, error)

    def reached(self, name: str) -> Progress:
        """Return how far a folder was read: an inbox for judging, another folder for finding moved mail."""
        by_put_away = "moved" if name in self.put_away else "rescued"
        return self.state.progress("judged" if name in self.roles.inbox else by_put_away, name)

    def keys(self, folder: Folder, uids: Sequence[int]) -> dict[int, bytes]:
        """Return {UID: key} of messages in the open folder: a hash of the headers, or of the UID if none."""
        place = f"{folder.name} {folder.validity} "
        return {uid: key_of(head or f"{place}{uid}".encode()) for uid, head in heads(self.connection, uids)}

    def learn(self, label: str, folder: Folder, uids: Iterable[int], why: str) -> list[Record]:
        """Learn messages of the open folder under `label`; report each, and `why`; return their records."""
        keys = self.keys(folder, sorted(uids))
        notes = []
        for message in messages(self.connection, [*keys]):
            if message.why:
                self.report(self.event(folder, message, what=message.why, failed=True))
                continue
            key = keys[message.uid]
            known = self.state.record(key)
            if self.history and known and known.verdict:
                self._correct_history(message.raw, label)
            if is_own(message.raw):
                outcome = KNOWN
            elif self.dry_run:
                outcome = KNOWN if learned_label(self.model, message.raw) == label else "would be learned"
            else:
                outcome = learn(self.model, message.raw, label, is_correction=known is not None)
            if outcome != KNOWN:
                self.report(self.event(folder, message, learned=label, what=f"{why}: {outcome}"))
            verdict = known.verdict if known else ""
            notes.append(Record(key, folder.name, folder.validity, message.uid, verdict, label=label))
        return notes

    def judge(self, model: Model, raw: bytes) -> tuple[Verdict, Envelope]:
        """Judge a message by model and lists of senders; return verdict and envelope (sender, subject, …)."""
        parsed = read(raw)
        verdict, envelope = model.classify_message(parsed), envelope_of(parsed)
        self.configuration.decide(verdict, envelope, model.stored)
        return verdict, envelope

    def remember(self, raw: bytes, verdict: Verdict, folder: str) -> None:
        """Append a message and its verdict to the history, if mail of this account is stored there."""
        if self.history:
            self.history.append(raw, verdict, self.model, f"imap {self.account.name}/{folder}")

    def with_history(self, do: Callable[[History], Found]) -> Found | None:
        """Call `do` with the history and return what `do` returns; if that fails, warn and return None."""
        why, found = "", None
        try:
            with History.open() as history:
                history.gather(seconds=MAX_GATHERING)
                found = do(history)
        except SetAside:
            pass  # already reported
        except (SpamnbError, OSError) as error:
            why = f"{error} (continuing without the history)"
        complain_once("imap", why)
        return found

    def _correct_history(self, raw: bytes, label: str) -> None:
        """Store in the history the label that the owner gave to a message; call this before it is learned."""

        def correct(history: History) -> None:
            ids = history.with_hash(hash_of_message(read(raw)), os.path.abspath(self.model), label)
            history.remember_labels(dict.fromkeys(ids, learned_label(self.model, raw)))
            history.correct(ids, label)

        self.with_history(correct)

    def note(self, notes: Sequence[Record], purpose: str, folder: Folder, next_uid: int) -> None:
        """Store records, and that `folder` was read for `purpose` at least up to `next_uid`."""
        before = self.state.progress(purpose, folder.name)
        if before.validity == folder.validity:
            next_uid = max(next_uid, before.next_uid)
        with self.state.change():
            self.state.note(*notes)
            self.state.advance(purpose, folder.name, Progress(folder.validity, next_uid, folder.modseq))

    def report_outcome(self, key: bytes, event: Event) -> None:
        """Report `event`, or that the message stays for now because it could not be moved or flagged."""
        known = self.state.record(key)
        is_waiting = known and (known.target or known.flag.startswith("+"))
        if is_waiting and not self.changes_nothing:
            what = f"stays for now: it could not be {event.what}"
            event = replace(event, what=what, target="", flag="")
        self.report(event)

    def report_outcomes(self) -> None:
        """Report the messages judged since the last call; call this after they were moved and flagged."""
        for key, event in self.unreported.items():
            self.report_outcome(key, event)
        self.unreported = {}

    def event(
        self, folder: Folder, message: Fetched, envelope: Envelope | None = None, **facts: Any
    ) -> Event:
        found = envelope or read_envelope(message.raw)
        facts |= {"sender": sender_once(found.sender), "subject": found.subject}
        return Event(self.account.name, folder.name, message.uid, **facts)

    def report_failure(self, folder: str, why: object, uid: int = 0) -> None:
        self.report(Event(self.account.name, folder, uid, what=str(why), failed=True))
