"""Finding the owner's corrections: mail moved into or out of Junk, flagged, or marked on the review page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from spamnb.core.native import read_head
from spamnb.imap.connection import HAM_KEYWORDS, JUNK_KEYWORDS, KEYWORD
from spamnb.imap.fetch import FETCHED, cut, flags, heads
from spamnb.imap.mailbox import DELETED, Event, look_into
from spamnb.imap.rescue import Rescue, moved_there
from spamnb.imap.state import Progress, Record, head_of, key_of
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.senders.correspondence import lines_of_sent
from spamnb.senders.people import People
from spamnb.store.changes import FORGOTTEN

if TYPE_CHECKING:
    from spamnb.history.schema import Entry
    from spamnb.imap.connection import Folder
    from spamnb.imap.mailbox import VisitedMailbox

ANY_KEYWORD = ["KEYWORD", HAM_KEYWORDS[-1]]
for _keyword in (*JUNK_KEYWORDS, *HAM_KEYWORDS[:-1]):
    ANY_KEYWORD = ["OR", "KEYWORD", _keyword, *ANY_KEYWORD]


class Corrections:
    """Finds and learns the corrections that the owner of a mailbox made since the last visit."""

    def __init__(self, mailbox: VisitedMailbox) -> None:
        self.mailbox = mailbox
        self.connection = mailbox.connection
        self.state = mailbox.state
        self.rescue = Rescue(mailbox)

    def look_for_moved(self, name: str) -> None:
        """Learn messages that the owner moved to a folder, if all mail there has one label (in Junk: spam).

        Also judge mail that the provider put into Junk, and record new UIDs of mail that spamnb moved here.
        """
        label = self.mailbox.roles.labels.get(name, "")
        folder, before, uids = look_into(self.connection, self.state, name, "moved")
        if not before.validity:
            uids = []  # messages from before are learned by `train`
        for some in cut(uids, FETCHED):
            notes: list[Record] = []
            moved: set[int] = set()
            unknown: dict[int, bytes] = {}  # never seen in another folder
            for uid, key in self.mailbox.keys(folder, some).items():
                known = self.state.at(name, folder.validity, uid) or self.state.record(key)
                if known and known.target == name:
                    notes.append(known._replace(target_uid=uid))
                elif known and known.folder == name:
                    notes.append(known._replace(uid=uid, validity=folder.validity))
                elif label and (known or name != self.mailbox.roles.junk):
                    moved.add(uid)
                elif label:
                    unknown[uid] = key
            moved |= moved_there(self.connection, unknown)
            notes += self.mailbox.learn(label, folder, moved, "moved here")
            notes += self.rescue.judge(folder, {uid: unknown[uid] for uid in unknown.keys() - moved})
            self.mailbox.note(notes, "moved", folder, some[-1] + 1)
        self.mailbox.note([], "moved", folder, folder.next_uid)

    def look_for_arrived(self, name: str) -> None:
        """Record the new UIDs of messages that an interrupted visit had moved or copied to an inbox."""
        folder, _, uids = look_into(self.connection, self.state, name, "judged")
        keys = self.mailbox.keys(folder, uids)
        met = {uid: known for uid, key in keys.items() if (known := self.state.record(key))}
        with self.state.change():
            found = (known._replace(target_uid=uid) for uid, known in met.items() if known.target == name)
            self.state.note(*found)

    def look_for_moved_back(self, name: str) -> None:
        """Learn mail as ham if the owner moved it to this ham folder from where spamnb had put it."""
        folder, before, uids = look_into(self.connection, self.state, name, "rescued")
        for some in cut(uids if before.validity else (), FETCHED):
            keys = self.mailbox.keys(folder, some)
            met = {uid: known for uid, key in keys.items() if (known := self.state.record(key))}
            moved, notes = self.learn_moved_back(folder, met)
            notes += [
                known.arrived(name, folder.validity, uid)._replace(ours=False)
                for uid, known in met.items()
                if known.target and uid not in moved
            ]
            self.mailbox.note(notes, "rescued", folder, some[-1] + 1)
        self.mailbox.note([], "rescued", folder, folder.next_uid)

    def learn_moved_back(self, folder: Folder, met: dict[int, Record]) -> tuple[list[int], list[Record]]:
        """Learn as ham those of `met` that the owner moved back to the open folder; return UIDs and records.

        `met` is {UID: earlier record}. A junk keyword that is still set is recorded as spamnb's own, so that
        the next visit does not learn the message as spam.
        """
        moved = self._moved_back(folder, met)
        notes = self.mailbox.learn(HAM, folder, moved, "moved back here")
        given = flags(self.connection, moved)
        return moved, [
            note._replace(flag=KEYWORD) if label_by_keywords(given.get(note.uid, ()), None) == SPAM else note
            for note in notes
        ]

    def _moved_back(self, folder: Folder, met: dict[int, Record]) -> list[int]:
        """Return UIDs of messages in `met` that the owner moved, not copied, from where spamnb put them."""
        candidates = {
            uid: known
            for uid, known in met.items()
            if known.folder in self.mailbox.put_away and known.label != HAM and not known.target
        }
        for name in dict.fromkeys(known.folder for known in candidates.values()):
            away = self.connection.open(name, read_only=True)
            uids = [known.uid for known in candidates.values() if known.folder == name and known.uid]
            there = flags(self.connection, uids)
            candidates = {
                uid: known
                for uid, known in candidates.items()
                if known.folder != name
                or known.validity != away.validity
                or DELETED in there.get(known.uid, {DELETED})
            }
        if self.connection.folder != folder.name:
            self.connection.open(folder.name)
        return sorted(candidates)

    def look_for_keywords(self, name: str) -> None:
        """Learn messages in a folder to which another program gave a keyword for junk, or for not junk."""
        folder = self.connection.open(name, read_only=True)
        before = self.state.progress("keywords", name)
        if folder.modseq and (before.validity, before.modseq) == (folder.validity, folder.modseq):
            return
        wanted: dict[str, list[int]] = {HAM: [], SPAM: []}
        flagged = self.connection.search("UNDELETED", *ANY_KEYWORD)
        for uid, keywords in flags(self.connection, flagged).items():
            known = self.state.at(name, folder.validity, uid)
            label = label_by_keywords(keywords, known)
            if label == SPAM and (name == self.mailbox.roles.junk or self._is_old(folder, uid, known)):
                continue
            if label == HAM and (not known or not (known.label or known.verdict in (SPAM, UNSURE, ""))):
                continue  # there is nothing to correct
            if label and not (known and known.label == label):
                wanted[label].append(uid)
        notes = [
            note
            for label, uids in wanted.items()
            for note in self.mailbox.learn(label, folder, uids, "flagged")
        ]
        is_learned = len(notes) == sum(map(len, wanted.values()))
        is_judged = folder.next_uid <= self.mailbox.reached(name).next_uid
        if not (is_learned and is_judged):
            folder = replace(folder, modseq=0)  # look again at the next visit, even if nothing changes
        self.mailbox.note(notes, "keywords", folder, 0)

    def _is_old(self, folder: Folder, uid: int, known: Record | None) -> bool:
        """Return whether a junk keyword is old: spamnb set it, or it was set before the mail left Junk."""
        if known is None:
            met = self.state.record(self.mailbox.keys(folder, [uid]).get(uid, b""))
            return met is not None and met.folder in self.mailbox.put_away
        return known.flag != "" or known.ours

    def look_for_correspondents(self, name: str) -> None:
        """Add the recipients of new mail in `name`, the folder of sent mail, to the known senders."""
        folder, _, uids = look_into(self.connection, self.state, name, "correspondents")
        people = People(self.mailbox.model)
        for some in cut(uids, FETCHED) if not self.mailbox.dry_run else ():
            found = heads(self.connection, some, "FROM", "TO", "CC", "BCC", "MESSAGE-ID")
            people.add(line for _, head in found for line in lines_of_sent(read_head(head)))
            self.mailbox.note([], "correspondents", folder, some[-1] + 1)


def label_by_keywords(keywords: Iterable[str], known: Record | None) -> str:
    """Return the label that the keywords of a message mean; "" if they mean none, or contradict each other.

    A ham keyword contradicts a junk keyword, unless the record `known` says that spamnb set the junk keyword.
    """
    lower = {keyword.lower() for keyword in keywords}
    junk = not lower.isdisjoint(keyword.lower() for keyword in JUNK_KEYWORDS)
    ham = not lower.isdisjoint(keyword.lower() for keyword in HAM_KEYWORDS)
    if ham and (not junk or (known and known.flag)):
        return HAM
    return SPAM if junk and not ham else ""


def take_marks(mailbox: VisitedMailbox, moves_mail: bool) -> dict[Record, Entry]:
    """Store new marks of the review page in the records; return {record: entry of the history}.

    If `moves_mail`, also store where to move each message. A message being moved waits for the next visit.
    """
    state = mailbox.state
    since = state.progress("marks", "").modseq / 1e6
    source = f"imap {mailbox.account.name}/"
    found = mailbox.with_history(
        lambda history: [
            (entry, history.message(entry.id)) for entry in history.corrected_since(since, source)
        ]
    )
    last_marks = {key_of(head_of(raw)): entry for entry, raw in found or [] if raw}
    marked, is_done = {}, True
    with state.change():
        for key, entry in last_marks.items():
            known = state.record(key)
            if known and known.target_uid > 0:
                is_done = False
            elif known and known.label != (entry.correction or ""):
                target = target_of(mailbox, known, entry) if moves_mail else ""
                known = known._replace(label=entry.correction or "", target=target, target_uid=0, since=0)
                state.note(known)
                marked[known] = entry
        if found and is_done:
            last = max(int((entry.corrected or 0.0) * 1e6) for entry, _ in found)
            state.advance("marks", "", Progress(modseq=last))
    return marked


def target_of(mailbox: VisitedMailbox, known: Record, entry: Entry) -> str:
    """Return the folder that a corrected message must be moved to; "" if the message stays where it is."""
    roles, label = mailbox.roles, entry.correction or known.verdict
    is_ours = entry.correction is not None or known.ours  # otherwise it was not moved, so it stays
    if not (known.uid and is_ours) or roles.homes.get(known.folder) == label:
        return ""
    return (roles.sort | {SPAM: roles.junk, UNSURE: roles.unsure}).get(label) or roles.inbox[0]


def event_of(mailbox: VisitedMailbox, known: Record, entry: Entry) -> Event:
    said = "marked by you" if entry.correction else "mark taken back by you"
    what = f"{said}: moved to {known.target}" if known.target else said
    learned, place = entry.correction or FORGOTTEN, (mailbox.account.name, known.folder, known.uid)
    event = Event(*place, learned=learned, what=what, target=known.target)
    return replace(event, sender=entry.sender, subject=entry.subject)
