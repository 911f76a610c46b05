"""What was marked on the review page: each message goes where it belongs, and so do its copies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from spamnb.imap.mailbox import Event
from spamnb.imap.places import is_elsewhere, is_news
from spamnb.imap.state import Progress, head_of, key_of
from spamnb.labels import SPAM, UNSURE
from spamnb.store.changes import FORGOTTEN

if TYPE_CHECKING:
    from spamnb.history.schema import Entry
    from spamnb.imap.connection import Folder
    from spamnb.imap.mailbox import VisitedMailbox
    from spamnb.imap.moves import Moves
    from spamnb.imap.state import Known

# Fields that a server can search for, and as much of each as all servers read alike.
SEARCHED = [
    re.compile(rb"^(%b):[ \t]*((?: ?[\w.,:;<>@+-]+)+)" % name, re.IGNORECASE | re.MULTILINE)
    for name in (b"Message-ID", b"Date", b"Subject", b"From")
]


class Marks:
    """Carries out what was marked since the last visit."""

    def __init__(self, mailbox: VisitedMailbox, moves: Moves) -> None:
        self.mailbox = mailbox
        self.moves = moves
        self.connection = mailbox.connection
        self.state = mailbox.state

    def take(self) -> None:
        """Carry out the marks that are new; if one cannot be, all are looked at again at the next visit."""
        since = self.state.progress("marks", "").modseq
        source = f"imap {self.mailbox.account.name}/"
        found = (
            self.mailbox.with_history(
                lambda history: [
                    (entry, history.message(entry.id))
                    for entry in history.corrected_since(since / 1e6, source)
                ]
            )
            or []
        )
        last_marks = {head_of(raw): entry for entry, raw in found if raw}
        is_done = True
        for head, entry in last_marks.items():
            known = self.state.known(key_of(head))
            if known and is_news(known, entry):
                is_done &= self._carry_out(known, entry, head)
        if is_done and found:
            last = max(int((entry.corrected or 0.0) * 1e6) for entry, _ in found)
            with self.state.change():
                self.state.advance("marks", "", Progress(modseq=last))

    def _carry_out(self, before: Known, entry: Entry, head: bytes) -> bool:
        """Move a message and its copies where they belong, and note its label; return whether it was done."""
        label, roles = entry.correction or "", self.mailbox.roles
        places = roles.sort | {SPAM: roles.junk, UNSURE: roles.unsure}
        target = places.get(label or before.verdict) or roles.inbox[0]
        event = Event(
            self.mailbox.account.name,
            before.folder,
            before.uid,
            learned=label or FORGOTTEN,
            what="marked by you" if label else "taken back by you",
            sender=entry.sender,
            subject=entry.subject,
        )
        has_moved = False

        def move(name: str) -> None:
            nonlocal has_moved
            folder = self.connection.open(name)
            for uid in self._same(folder, before, head):  # one after the other: the state knows one of them
                has_moved = True
                here = before._replace(folder=name, validity=folder.validity, uid=uid)
                with self.state.change():
                    self.state.note(here._replace(target=target, target_uid=0))
                self.moves.carry_out(folder)
                what = f"{event.what}: moved to {target}"
                self.mailbox.tell_outcome(before.key, replace(event, folder=name, uid=uid, what=what))
                now = self.state.known(before.key)
                if now and now.target and not now.target_uid:
                    self.mailbox.failed.add(name)
                    return

        tried = [
            name
            for name in dict.fromkeys((before.folder, *roles.inbox, *self.mailbox.put_away))
            if name in self.mailbox.folders and name != target
            if is_elsewhere(before._replace(folder=name), entry, self.state.homes())
        ]
        for name in tried:
            self.mailbox.attempt(move, name)
        if not self.mailbox.failed.isdisjoint(tried):
            return False
        if not has_moved:
            self.mailbox.report(event)
        known = self.state.known(before.key) or before
        if known.target != target:
            known = known._replace(target="", target_uid=0)
        if not has_moved and not known.target and known.folder in tried:
            known = known._replace(uid=0)  # its owner took it elsewhere
        with self.state.change():
            self.state.note(known._replace(label=label))
        return True

    def _same(self, folder: Folder, known: Known, head: bytes) -> list[int]:
        """Find the message and its copies in the open folder."""
        fields = [found for pattern in SEARCHED if (found := pattern.search(head))]
        wanted = [text.decode() for found in fields for text in (b"HEADER", *found.groups())]
        uids = set(self.connection.search("UNDELETED", *wanted))
        if known.uid and (known.folder, known.validity) == (folder.name, folder.validity):
            uids.add(known.uid)  # whatever the server finds
        return [uid for uid, key in self.mailbox.keys(folder, sorted(uids)).items() if key == known.key]
