"""A visit to a mailbox: learn from what its owner moved and flagged, then judge what is new.

Nothing is lost: what is to be moved or flagged is written down first, and done after that. A visit that was
cut short is finished by the next one, which looks into the folder that a message was to go to before it does
anything again. A message is removed from where it was only once it was seen where it is to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from spamnb import HAM, SPAM, UNSURE
from spamnb.configuration.current import Configuration, load
from spamnb.imap.accounts import FLAG, NOTHING
from spamnb.imap.connection import FETCHED, HAM_KEYWORDS, JUNK_KEYWORDS, Broken, ImapError, cut
from spamnb.imap.folders import roles_in
from spamnb.imap.state import Known, Progress, key_of
from spamnb.model import Model
from spamnb.reading.message import read
from spamnb.reading.sender import name_and_address
from spamnb.training.learn import learn

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import Connection, Fetched, Folder
    from spamnb.imap.state import State

KEYWORD = JUNK_KEYWORDS[0]  # that we give
DELETED = "\\Deleted"
ADDRESS = re.compile(r'[^\s<>(),;:"]+@[^\s<>(),;:"]+')
MOST_ADDRESSES = 64 << 10  # bytes of the headers of one message that name whom it goes to
ANY_KEYWORD = ["KEYWORD", HAM_KEYWORDS[-1]]
for _keyword in (*JUNK_KEYWORDS, *HAM_KEYWORDS[:-1]):
    ANY_KEYWORD = ["OR", "KEYWORD", _keyword, *ANY_KEYWORD]


@dataclass(frozen=True)
class Event:
    """What was done about a message, or what went wrong."""

    account: str
    folder: str = ""
    uid: int = 0
    verdict: str = ""
    score: float | None = None
    learned: str = ""  # the label
    what: str = ""  # was done, would be done, or failed
    failed: bool = False
    sender: str = ""
    subject: str = ""

    def as_map(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", None, False, 0)}


class Visit:
    """One visit to the mailbox of an account. With `dry_run` nothing is changed, anywhere."""

    def __init__(
        self,
        account: Account,
        connection: Connection,
        state: State,
        model: str,
        report: Callable[[Event], None],
        dry_run: bool = False,
        everything: bool = False,
    ) -> None:
        self.account = account
        self.connection = connection
        self.state = state
        self.model = model
        self.report = report
        self.dry_run = dry_run
        self.everything = everything  # judge read mail, too, in a folder that is met for the first time
        self.roles = roles_in(account, connection.folders())
        self.put_away = [name for name in (self.roles.junk, self.roles.unsure) if name]  # folders we move to

    def run(self) -> None:
        Model.open(self.model)  # raises an error that says what to do
        for name in self.put_away:
            self._try(self._look_for_moved, name)
        for name in self.roles.inbox:
            self._try(self._finish, name)
        for name in self.roles.ham:
            self._try(self._look_for_rescued, name)
        for name in dict.fromkeys((*self.roles.inbox, *self.put_away[:1])):
            self._try(self._look_for_keywords, name)
        if self.account.known_senders and self.roles.sent:
            self._try(self._look_for_correspondents, self.roles.sent)
        for name in self.roles.inbox:
            self._try(self._judge, name)
        with self.state.change():
            self.state.forget_old()

    def _try(self, step: Callable[[str], None], folder: str) -> None:
        """Take a step; if it fails in this folder, the others have theirs all the same."""
        try:
            step(folder)
        except Broken:
            raise
        except ImapError as error:
            self.report(Event(self.account.name, folder, what=str(error), failed=True))

    # What the owner of the mailbox did

    def _look_for_moved(self, name: str) -> None:
        """Look through what is new in a folder that we move to: what we did not put into Junk is spam."""
        folder, _, uids = self._new(name, "moved")
        for some in cut(uids, FETCHED):
            notes, unknown = [], []
            for uid, head in self.connection.heads(some):
                known = self.state.known(key_of(head))
                if known and known.target == name:
                    notes.append(known._replace(target_uid=uid))
                elif known and known.folder == name and (known.ours or known.label == SPAM):
                    notes.append(known._replace(uid=uid, validity=folder.validity))
                elif name == self.roles.junk:
                    unknown.append(uid)
            notes += self._learn(SPAM, folder, unknown, "moved here")
            self._note(notes, "moved", folder, some[-1] + 1)
        self._note([], "moved", folder, folder.next_uid)

    def _look_for_rescued(self, name: str) -> None:
        """Look through what is new in a folder of ham: what was in Junk before is ham."""
        folder, before, uids = self._new(name, "rescued")
        for some in cut(uids if before.validity else (), FETCHED):
            met = {uid: self.state.known(key_of(head)) for uid, head in self.connection.heads(some)}
            rescued = self._rescued(folder, {uid: known for uid, known in met.items() if known})
            notes = [
                known._replace(
                    folder=name, validity=folder.validity, uid=uid, ours=False, target="", target_uid=0
                )
                for uid, known in met.items()
                if known and known.target and uid not in rescued
            ]
            notes += self._learn(HAM, folder, rescued, "rescued from Junk")
            self._note(notes, "rescued", folder, some[-1] + 1)
        self._note([], "rescued", folder, folder.next_uid)

    def _rescued(self, folder: Folder, met: dict[int, Known]) -> list[int]:
        """Tell which messages were put away before, and are no more where they were: not mere copies."""
        candidates = {
            uid: known
            for uid, known in met.items()
            if known.folder in self.put_away and (known.ours or known.label == SPAM) and not known.target
        }
        for name in dict.fromkeys(known.folder for known in candidates.values()):
            away = self.connection.open(name, read_only=True)
            uids = [known.uid for known in candidates.values() if known.folder == name and known.uid]
            there = self.connection.flags(uids)
            candidates = {
                uid: known
                for uid, known in candidates.items()
                if known.folder != name
                or known.validity != away.validity
                or DELETED in there.get(known.uid, {DELETED})
            }
        if met and self.connection.folder != folder.name:
            self.connection.open(folder.name)
        return sorted(candidates)

    def _look_for_keywords(self, name: str) -> None:
        """Look for messages that were flagged as junk or as no junk, by others than us."""
        folder = self.connection.open(name, read_only=True)
        before = self.state.progress("keywords", name)
        if folder.modseq and (before.validity, before.modseq) == (folder.validity, folder.modseq):
            return
        wanted: dict[str, list[int]] = {HAM: [], SPAM: []}
        for uid, flags in self.connection.flags(self.connection.search(*ANY_KEYWORD)).items():
            known = self.state.at(name, folder.validity, uid)
            label = label_by_keywords(flags, known)
            if label == SPAM and (name == self.roles.junk or (known and known.flag)):
                continue
            if label == HAM and (not known or (known.verdict == HAM and not known.label)):
                continue  # there is nothing to correct
            if label and not (known and known.label == label):
                wanted[label].append(uid)
        notes = [
            note for label, uids in wanted.items() for note in self._learn(label, folder, uids, "flagged")
        ]
        self._note(notes, "keywords", folder, 0)

    def _look_for_correspondents(self, name: str) -> None:
        """Note to whom mail was sent."""
        folder, _, uids = self._new(name, "correspondents")
        for some in cut(uids, FETCHED):
            addresses: set[str] = set()
            for _, head in self.connection.heads(some, "TO", "CC", "BCC"):
                text = head[:MOST_ADDRESSES].decode("utf-8", "replace")
                addresses.update(address.lower() for address in ADDRESS.findall(text))
            with self.state.change():
                self.state.add_correspondents(addresses - {self.account.user.lower()})
                self.state.advance("correspondents", name, Progress(folder.validity, some[-1] + 1))

    def _new(self, name: str, purpose: str) -> tuple[Folder, Progress, list[int]]:
        """Open a folder to look at; return how far it was read before, and the messages that are new."""
        folder = self.connection.open(name, read_only=True)
        before = self.state.progress(purpose, name)
        first = before.next_uid if before.validity == folder.validity else 1
        return folder, before, self.connection.from_uid(first) if first < folder.next_uid else []

    def _learn(self, label: str, folder: Folder, uids: Iterable[int], why: str) -> list[Known]:
        """Learn messages of the open folder, once each; return the notes to take."""
        wanted = sorted(uids)
        keys = {uid: key_of(head) for uid, head in self.connection.heads(wanted)}
        notes = []
        for message in self.connection.messages([*keys]):
            if message.why:
                self._tell(folder, message, what=message.why, failed=True)
                continue
            key = keys[message.uid]
            known = self.state.known(key)
            outcome = "would be learned" if self.dry_run else learn(self.model, message.raw, label)
            if outcome != "known":
                self._tell(folder, message, learned=label, what=f"{why}: {outcome}")
            verdict = known.verdict if known else ""
            notes.append(Known(key, folder.name, folder.validity, message.uid, verdict, label=label))
        return notes

    # What is new

    def _judge(self, name: str) -> None:
        folder = self.connection.open(name)
        before = self.state.progress("judged", name)
        if before.validity and before.validity != folder.validity:
            self._renumber(folder)
        first_time = before.validity != folder.validity
        start = 1 if first_time else before.next_uid
        unread = ["UNSEEN"] if first_time and not self.everything else []
        uids = self.connection.from_uid(start, *unread) if start < folder.next_uid else []
        for some in cut(uids, FETCHED):
            self._judge_some(folder, some)
        self._note([], "judged", folder, folder.next_uid)

    def _judge_some(self, folder: Folder, uids: Sequence[int]) -> None:
        keys = {uid: key_of(head) for uid, head in self.connection.heads(uids)}
        met = {uid: known for uid, key in keys.items() if (known := self.state.known(key))}
        rescued = self._rescued(folder, met)
        notes = self._learn(HAM, folder, rescued, "rescued from Junk")
        model, configuration = Model.open(self.model), load()
        for message in self.connection.messages([*keys]):
            known = met.get(message.uid)
            place = folder.name, folder.validity, message.uid
            if message.uid in rescued:
                continue
            if message.why:
                self._tell(folder, message, what=message.why, failed=True)
            elif known and known.folder not in self.put_away:  # its owner moves it about
                if (known.folder, known.validity, known.uid) != place:
                    notes.append(
                        known._replace(
                            folder=folder.name, validity=folder.validity, uid=message.uid, target=""
                        )
                    )
            else:
                notes.append(self._judged(model, configuration, folder, message, keys[message.uid]))
        self._note(notes, "judged", folder, uids[-1] + 1)
        self._carry_out(folder)

    def _judged(
        self, model: Model, configuration: Configuration, folder: Folder, message: Fetched, key: bytes
    ) -> Known:
        """Judge a message; return the note that says what is to be done about it."""
        verdict = configuration.decide(model.classify(message.raw), message.raw)
        action, target, flag, what = self.account.action, "", "", "stays"
        if verdict.label == SPAM:
            sender = name_and_address(read(message.raw).get("from") or "")[1]
            if self.account.known_senders and self.state.is_correspondent(sender):
                flag, what = KEYWORD, f"flagged {KEYWORD}, from someone you wrote to"
            elif action == FLAG:
                flag, what = KEYWORD, f"flagged {KEYWORD}"
            else:
                target, what = self.roles.junk, f"moved to {self.roles.junk or 'Junk'}"
        elif verdict.label == UNSURE and self.roles.unsure and action != FLAG:
            target, what = self.roles.unsure, f"moved to {self.roles.unsure}"
        if flag and not folder.takes_keywords:
            flag, what = "", "stays: the server keeps no keywords in this folder"
        if what != "stays" and (action == NOTHING or self.dry_run):
            what = f"would be {what}"
        if action == NOTHING:
            target = flag = ""
        if verdict.reason:
            what += f" ({verdict.reason})"
        self._tell(folder, message, verdict=verdict.label, score=verdict.score, what=what)
        place = folder.name, folder.validity, message.uid
        return Known(key, *place, verdict.label, target=target, flag=flag and f"+{flag}")

    def _renumber(self, folder: Folder) -> None:
        """Find the messages we know in a folder whose numbers the server has changed."""
        uids = self.connection.from_uid(1)
        for some in cut(uids, FETCHED):
            with self.state.change():
                for uid, head in self.connection.heads(some):
                    known = self.state.known(key_of(head))
                    if known and known.folder == folder.name:
                        self.state.note(known._replace(validity=folder.validity, uid=uid))

    # What is to be done

    def _finish(self, name: str) -> None:
        """Finish what an earlier visit had begun."""
        before = self.state.progress("judged", name)
        if self.state.begun(name, before.validity):
            folder = self.connection.open(name)
            if folder.validity != before.validity:
                self._renumber(folder)
            self._carry_out(folder)

    def _carry_out(self, folder: Folder) -> None:
        """Flag and move the messages of the open folder that are noted to be, and note that it was done."""
        begun = self.state.begun(folder.name, folder.validity)
        if not begun or self.dry_run:
            return
        there = self.connection.flags([known.uid for known in begun])
        to_flag = [known for known in begun if known.flag.startswith("+") and known.uid in there]
        if to_flag:
            self.connection.flag([known.uid for known in to_flag], KEYWORD)
        with self.state.change():
            self.state.note(*(known._replace(flag=KEYWORD) for known in begun if known.flag.startswith("+")))
        for target in self.put_away:
            uids = [
                known.uid
                for known in begun
                if known.target == target
                and not known.target_uid
                and DELETED not in there.get(known.uid, {DELETED})
            ]
            self._put_away(uids, target)
            if uids:
                self._look_for_moved(target)  # this notes which of them are there
                self.connection.open(folder.name)
        self._remove_moved(folder)

    def _put_away(self, uids: Sequence[int], target: str) -> None:
        put = self.connection.move if self.connection.has("MOVE") else self.connection.copy
        for some in cut(uids, FETCHED):
            try:
                put(some, target)
            except Broken:
                raise
            except ImapError as error:
                if len(some) > 1:  # perhaps one of them is to blame
                    for uid in some:
                        self._put_away([uid], target)
                else:
                    self.report(
                        Event(
                            self.account.name, self.connection.folder, some[0], what=str(error), failed=True
                        )
                    )

    def _remove_moved(self, folder: Folder) -> None:
        """Remove the messages from the open folder that were seen where they were to go."""
        seen = [known for known in self.state.begun(folder.name, folder.validity) if known.target_uid]
        there = sorted(self.connection.flags([known.uid for known in seen]))
        if there:  # the server copied them
            self.connection.flag(there, DELETED)
            if self.connection.has("UIDPLUS"):
                self.connection.remove(there)
        with self.state.change():
            for known in seen:
                validity = self.state.progress("moved", known.target).validity
                place = known.target, validity, known.target_uid
                self.state.note(Known(known.key, *place, known.verdict, ours=True))

    def _note(self, notes: Sequence[Known], purpose: str, folder: Folder, next_uid: int) -> None:
        """Note what became of messages, and how far the folder was read; never less far than before."""
        before = self.state.progress(purpose, folder.name)
        if before.validity == folder.validity:
            next_uid = max(next_uid, before.next_uid)
        with self.state.change():
            self.state.note(*notes)
            self.state.advance(purpose, folder.name, Progress(folder.validity, next_uid, folder.modseq))

    def _tell(self, folder: Folder, message: Fetched, **facts: Any) -> None:
        fields = read(message.raw)
        who, what = (fields.get(name) or "" for name in ("from", "subject"))
        self.report(Event(self.account.name, folder.name, message.uid, sender=who, subject=what, **facts))


def label_by_keywords(flags: Iterable[str], known: Known | None) -> str:
    """Label that the keywords of a message give it; if two contradict each other, ours does not count."""
    lower = {flag.lower() for flag in flags}
    junk = not lower.isdisjoint(keyword.lower() for keyword in JUNK_KEYWORDS)
    ham = not lower.isdisjoint(keyword.lower() for keyword in HAM_KEYWORDS)
    if ham and (not junk or (known and known.flag)):
        return HAM
    return SPAM if junk and not ham else ""
