"""A visit to a mailbox: learn from what the owner moved and flagged, then judge new mail."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from spamnb.errors import NoModel, command_to_run
from spamnb.imap.accounts import FLAG, MOVE, NOTHING
from spamnb.imap.connection import KEYWORD
from spamnb.imap.corrections import Corrections, event_of, take_marks
from spamnb.imap.fetch import FETCHED, cut, flags, messages
from spamnb.imap.kept import kept
from spamnb.imap.mailbox import Event
from spamnb.imap.moves import Moves
from spamnb.imap.own_mail import is_own
from spamnb.imap.state import Record
from spamnb.labels import HAM, SPAM
from spamnb.model import Model

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import Folder
    from spamnb.imap.fetch import Fetched
    from spamnb.imap.mailbox import VisitedMailbox
    from spamnb.imap.state import State

JUDGED = 50  # messages that are judged before they are moved and reported


def check_trained(state: State, model: str) -> None:
    """Raise NoModel unless mail of this account was learned: a model of other people's mail is not enough."""
    Model.open(model)
    if not state.is_trained():
        raise NoModel("nothing was learned from this account yet")


def not_trained(account: Account) -> str:
    return f"not trained yet; run: {command_to_run('imap', 'train', '--account', account.name)}"


class Visit:
    """A visit to a mailbox, which learns from what the owner moved or flagged, then judges new mail."""

    def __init__(self, mailbox: VisitedMailbox, again: bool = False, most: int = 0) -> None:
        self.mailbox = mailbox
        self.account = mailbox.account
        self.connection = mailbox.connection
        self.state = mailbox.state
        self.corrections = Corrections(self.mailbox)
        self.moves = Moves(self.mailbox, self.corrections)
        self.again = again  # judge all mail of the inboxes, even if it is read or was judged before
        self.most = most  # judge only so many messages of an inbox, the latest not used in training; 0: all
        self.judged: set[bytes] = set()  # keys of the messages judged in this visit

    def run(self) -> None:
        check_trained(self.state, self.mailbox.model)
        roles, attempt = self.mailbox.roles, self.mailbox.attempt
        for name in self.mailbox.put_away:
            attempt(self.corrections.look_for_moved, name)
        for name in self.mailbox.folders:
            attempt(self._finish, name)
        self.mailbox.report_outcomes()
        if self.mailbox.history:
            self._carry_out_marks()
        for name in roles.ham:
            if name not in roles.inbox:  # what was moved back there is found by `_judge`
                attempt(self.corrections.look_for_moved_back, name)
        for name in filter(None, (*roles.inbox, roles.junk)):
            attempt(self.corrections.look_for_keywords, name)
        if roles.sent:
            attempt(self.corrections.look_for_correspondents, roles.sent)
        for name in roles.inbox:
            attempt(self._judge, name)
        with self.state.change():
            self.moves.give_up_lost()
            self.state.forget_old()

    def _finish(self, name: str) -> None:
        """Finish moves out of a folder that an earlier visit began; report messages moved only now."""
        before = self.mailbox.reached(name)
        begun = self.state.begun(name, before.validity)
        if begun and not self.mailbox.changes_nothing:
            not_seen = {known.target for known in begun if not known.target_uid}
            for target in not_seen.intersection(self.mailbox.roles.inbox):
                self.corrections.look_for_arrived(target)
            folder = self.connection.open(name)
            if folder.validity != before.validity:
                self._find_again(folder)
            self.moves.carry_out(folder)
            for known in begun:
                now = self.state.record(known.key)
                if known.since and not known.target_uid and now and now.folder == known.target:
                    when = datetime.fromtimestamp(known.since).strftime("%Y-%m-%d %H:%M")
                    what = f"moved to {known.target} now; it was judged on {when}"
                    event = Event(self.account.name, name, known.uid, known.verdict, what=what)
                    self.mailbox.report(replace(event, target=known.target, since=known.since))

    def _carry_out_marks(self) -> None:
        """Report mail that the owner marked on the review page; move it if `action` and server allow that."""
        moves_mail = self.account.action == MOVE and self.connection.has("UIDPLUS")
        marked = take_marks(self.mailbox, moves_mail)
        for name in dict.fromkeys(known.folder for known in marked if known.target):
            self.mailbox.attempt(self._finish, name)
        for known, entry in marked.items():
            self.mailbox.report_outcome(known.key, event_of(self.mailbox, known, entry))

    def _find_again(self, folder: Folder) -> None:
        """After the server gave the messages in a folder new UIDs, store the new UIDs in the records."""
        for some in cut(self.connection.from_uid(1), FETCHED):
            met = {uid: self.state.record(key) for uid, key in self.mailbox.keys(folder, some).items()}
            with self.state.change():
                for uid, known in met.items():
                    if known and known.folder == folder.name:
                        self.state.note(known._replace(validity=folder.validity, uid=uid))

    def _judge(self, name: str) -> None:
        """Judge new messages of an inbox; at the first visit, only unread ones; with `self.again`, all."""
        folder = self.connection.open(name, read_only=self.mailbox.changes_nothing)
        before = self.state.progress("judged", name)
        if before.validity and before.validity != folder.validity:
            self._find_again(folder)
        first_time = before.validity != folder.validity
        start = 1 if first_time or self.again else before.next_uid
        unread = ["UNSEEN"] if first_time and not self.again else []
        uids = self.connection.from_uid(start, *unread) if start < folder.next_uid else []
        if self.most:
            roles = self.mailbox.roles
            learned = not {name, roles.all or name}.isdisjoint(roles.ham)
            stays = set(kept(self.connection, roles, name)) if learned else ()
            uids = [uid for uid in uids if uid not in stays][-self.most :]
        for some in cut(uids, JUDGED):
            self._judge_some(folder, some)
        self.mailbox.note([], "judged", folder, folder.next_uid)

    def _judge_some(self, folder: Folder, uids: Sequence[int]) -> None:
        keys = self.mailbox.keys(folder, uids)
        unread = flags(self.connection, [uid for uid in uids if uid not in keys])
        for uid in unread:
            self.mailbox.report_failure(folder.name, "cannot be read, so it is skipped", uid)
        first = {key: uid for uid, key in reversed(keys.items())}
        copies = [uid for uid, key in keys.items() if first[key] != uid]  # judged later
        keys = {uid: key for key, uid in first.items()}
        met = {uid: known for uid, key in keys.items() if (known := self.state.record(key))}
        rescued, notes = self.corrections.learn_moved_back(folder, met)
        model = Model.open(self.mailbox.model)
        for message in messages(self.connection, sorted(set(keys).difference(rescued))):
            known = met.get(message.uid)
            if message.why:
                self.mailbox.report(self.mailbox.event(folder, message, what=message.why, failed=True))
            elif known and known.target == folder.name:  # moved by a visit that was cut short
                notes.append(known._replace(target_uid=message.uid))
            elif known and (known.label or not self.again) and self._moved_by_user(known):
                if (known.folder, known.uid) != (folder.name, message.uid):
                    notes.append(known.arrived(folder.name, folder.validity, message.uid))
            elif is_own(message.raw):
                place = folder.name, folder.validity, message.uid
                notes.append(Record(keys[message.uid], *place, HAM, label=HAM))
            else:
                notes.append(self._judged(model, folder, message, keys[message.uid], known))
        self.mailbox.note(notes, "judged", folder, min(copies, default=uids[-1] + 1))
        try:
            self.moves.carry_out(folder)
        finally:
            self.mailbox.report_outcomes()
        if self.mailbox.history:  # little at a time, so that nobody waits long for it later
            self.mailbox.with_history(lambda _: None)
        if copies:
            self._judge_some(folder, copies)

    def _moved_by_user(self, known: Record) -> bool:
        """Return whether a message judged before must stay in the inbox: the owner left or put it there."""
        put_away = known.folder in self.mailbox.put_away and known.label != HAM
        return known.key not in self.judged and not put_away

    def _judged(
        self, model: Model, folder: Folder, message: Fetched, key: bytes, before: Record | None
    ) -> Record:
        """Judge a message; return its new record, with the folder to move it to or the keyword to set."""
        self.judged.add(key)
        verdict, envelope = self.mailbox.judge(model, message.raw)
        if before is None or before.verdict != verdict.label:
            self.mailbox.remember(message.raw, verdict, folder.name)
        target, flag = self._wanted(verdict)
        what = f"moved to {target}" if target else f"flagged {flag}" if flag else "stays"
        if flag and not folder.takes_keywords:
            flag, what = "", "stays without a flag: the server stores no keywords in this folder"
        planned = bool(target or flag) and self.mailbox.changes_nothing
        what = f"would be {what}" if planned else what
        what += f" ({verdict.reason})" if verdict.reason else ""
        wish = {"what": what, "target": target, "flag": flag, "planned": planned}
        self.mailbox.unreported[key] = self.mailbox.event(
            folder, message, envelope, verdict=verdict.label, score=verdict.score, **wish
        )
        if self.account.action == NOTHING:
            target = flag = ""
        given = before.flag if before else ""
        place = folder.name, folder.validity, message.uid
        flag = given if flag in ("", given) else f"+{flag}"
        since = ((before and before.since) or int(time.time())) if target else 0
        is_ours = before is not None and before.ours and before.folder == folder.name
        return Record(key, *place, verdict.label, is_ours, target=target, flag=flag, since=since)

    def _wanted(self, verdict: Verdict) -> tuple[str, str]:
        """Return (folder to move a message to, keyword to set on it); at least one of them is ""."""
        roles, label = self.mailbox.roles, verdict.label
        if label == SPAM:
            flags_only = self.account.action == FLAG or not roles.junk
            return ("", KEYWORD) if flags_only else (roles.junk, "")
        if label in roles.sort:
            return ("", label) if self.account.action == FLAG else (roles.sort[label], "")
        is_for_unsure = verdict.is_spam is None and not verdict.reason and self.account.action != FLAG
        return (roles.unsure if is_for_unsure else ""), ""
