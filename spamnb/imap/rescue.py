"""Mail that was put into Junk by the provider's filter.

spamnb judges such mail, but does not learn it: otherwise the provider's mistakes would be learned as spam.
Messages that surely are ham are recorded as ham; the digest and the review page list them.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from math import inf
from typing import TYPE_CHECKING

from spamnb.history.queries import BY_PROVIDER
from spamnb.imap.accounts import MOVE, NOTHING
from spamnb.imap.fetch import messages, values
from spamnb.imap.own_mail import is_own
from spamnb.imap.state import Record
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.model import Model

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.imap.connection import Folder, ImapConnection
    from spamnb.imap.mailbox import VisitedMailbox

APART = timedelta(minutes=10)  # between the dates of two messages, for their order to be significant
NEIGHBOURS = 100  # messages before a new one in its folder, whose dates are compared with its date
LOOKS_LIKE_HAM = "looks like mail you keep; the provider put it here"
OF_SOMEBODY = ("allowed=", "known=")  # beginnings of reasons that speak for the sender


def moved_there(connection: ImapConnection, uids: Collection[int]) -> set[int]:
    """Return those of `uids` whose messages were moved into the open folder, not delivered to it.

    A moved message gets a new, higher UID, but keeps the date at which it arrived in the mailbox. So if a
    message is much older than one with a lower UID, the older message was in another folder before.
    """
    if not uids:
        return set()
    before = [uid for uid in connection.search("UID", f"1:{min(uids)}") if uid < min(uids)]
    came = values(connection, sorted({*before[-NEIGHBOURS:], *uids}), "INTERNALDATE")
    found, latest = set(), None
    for uid, date in sorted((uid, date) for uid, date in came.items() if date):
        if latest and date < latest - APART and uid in uids:
            found.add(uid)
        latest = max(latest or date, date)
    return found


class Rescue:
    """Judges mail that the provider put into Junk, and finds mail there that surely is ham."""

    def __init__(self, mailbox: VisitedMailbox) -> None:
        self.mailbox = mailbox
        self.limit = inf  # a message with this score or less surely is ham; inf until computed

    def judge(self, folder: Folder, keys: dict[int, bytes]) -> list[Record]:
        """Judge messages of the open folder, given as {UID: key}; return their new records, to be stored."""
        model, notes = Model.open(self.mailbox.model), []
        if self.limit == inf and keys:
            from spamnb.inspection.assessment import score_of_sure_ham

            self.limit = score_of_sure_ham(model.stored)
        # If the server does not report new UIDs, moved mail could not be found again, so it is only listed.
        moves = self.mailbox.account.rescue == MOVE and self.mailbox.connection.has("UIDPLUS")
        for message in messages(self.mailbox.connection, sorted(keys)):
            if message.why:
                self.mailbox.report(self.mailbox.event(folder, message, what=message.why, failed=True))
                continue
            key = keys[message.uid]
            if is_own(message.raw):
                notes.append(Record(key, folder.name, folder.validity, message.uid, HAM, label=HAM))
                continue
            verdict, envelope = self.mailbox.judge(model, message.raw)
            label, target = SPAM if verdict.label == SPAM else UNSURE, ""
            if self.is_surely_ham(verdict):
                label, target = HAM, self.mailbox.roles.inbox[0] if moves else ""
                self.mailbox.remember(message.raw, verdict, folder.name + BY_PROVIDER)
                what = f"moved back to {target}" if target else LOOKS_LIKE_HAM
                planned = bool(target) and self.mailbox.changes_nothing
                wish = {"target": target, "planned": planned, "is_rescued": True}
                facts = {"what": f"would be {what}" if planned else what, "score": verdict.score, **wish}
                self.mailbox.unreported[key] = self.mailbox.event(
                    folder, message, envelope, verdict=HAM, **facts
                )
                target = "" if self.mailbox.account.action == NOTHING else target
            notes.append(Record(key, folder.name, folder.validity, message.uid, label, target=target))
        return notes

    def is_surely_ham(self, verdict: Verdict) -> bool:
        """Return whether mail surely is ham: its sender is allowed or known, or its score is very low."""
        by_sender = verdict.reason.startswith(OF_SOMEBODY)
        return by_sender or (not verdict.reason and verdict.is_spam is False and verdict.score <= self.limit)
