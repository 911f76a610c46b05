"""Flagging and moving messages, as planned in the stored state.

No message is lost: a move is recorded before it is done. After an interrupted visit, the next visit looks
into the target folder before it moves a message again. If the server can only copy, the original is removed
only after the copy was read and found identical.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spamnb.imap.errors import Broken, Full, ImapError
from spamnb.imap.fetch import FETCHED, cut, flags, messages
from spamnb.imap.mailbox import DELETED
from spamnb.imap.state import key_of

if TYPE_CHECKING:
    from spamnb.imap.connection import Folder
    from spamnb.imap.corrections import Corrections
    from spamnb.imap.mailbox import VisitedMailbox
    from spamnb.imap.state import Record

NOT_SEEN = -1  # stored as `target_uid` of a message that was not found in its target folder


class Moves:
    """Flags and moves messages as their stored records say, and records what was done."""

    def __init__(self, mailbox: VisitedMailbox, corrections: Corrections) -> None:
        self.mailbox = mailbox
        self.corrections = corrections
        self.connection = mailbox.connection
        self.state = mailbox.state
        self.gone: set[tuple[bytes, str, int]] = set()  # messages that disappeared: key, folder, UID

    def carry_out(self, folder: Folder) -> None:
        """Flag and move messages of the open folder where their stored records say that this must be done."""
        begun = self.state.begun(folder.name, folder.validity)
        if not begun or self.mailbox.changes_nothing:
            return
        there = flags(self.connection, [known.uid for known in begun])
        gone = [known for known in begun if DELETED in there.get(known.uid, {DELETED})]
        self.gone.update((known.key, known.folder, known.uid) for known in gone)
        self.mailbox.attempt(lambda _: self._flag(begun, set(there)), folder.name)
        for target in dict.fromkeys(known.target for known in begun if known.target):
            to_move = [
                known
                for known in begun
                if known.target == target and not known.target_uid and known not in gone
            ]
            for some in cut(to_move, FETCHED):
                self._put_away(folder, some, target)
        self._settle(folder)

    def give_up_lost(self) -> None:
        """Stop trying to move messages that are found neither in their folder nor in their target folder."""
        for known in self.state.waiting():
            is_gone = (known.key, known.folder, known.uid) in self.gone
            is_there = known.folder in self.mailbox.folders and not is_gone
            is_sure = self.mailbox.failed.isdisjoint((known.folder, known.target))
            if is_sure and not (is_there and known.validity == self.mailbox.reached(known.folder).validity):
                self.state.note(known._replace(uid=0, target="", target_uid=0, since=0))

    def _flag(self, begun: Sequence[Record], there: set[int]) -> None:
        to_flag = [known for known in begun if known.flag.startswith("+")]
        for flag in dict.fromkeys(known.flag[1:] for known in to_flag):
            uids = [known.uid for known in to_flag if known.uid in there and known.flag[1:] == flag]
            if uids:
                self.connection.flag(uids, flag)
        with self.state.change():
            self.state.note(*(known._replace(flag=known.flag[1:]) for known in to_flag))

    def _put_away(self, folder: Folder, begun: Sequence[Record], target: str) -> None:
        """Move messages to `target`, or copy them if the server cannot move, and record their UIDs there."""
        try:
            new_uids = self.connection.move([known.uid for known in begun], target)
        except (Broken, Full):
            raise
        except ImapError as error:
            if len(begun) == 1:
                if "EXPUNGEISSUED" not in str(error):  # else another client was faster
                    self.mailbox.report_failure(folder.name, error, begun[0].uid)
                return
            self.corrections.look_for_moved(target)  # some may have been moved before the error
            self.connection.open(folder.name)
            waiting = {known.key for known in self._waiting(folder)}
            for known in begun:  # one at a time: only one may cause the error
                if known.key in waiting:
                    self._put_away(folder, [known], target)
            return
        with self.state.change():
            self.state.note(
                *(known._replace(target_uid=new_uids[known.uid]) for known in begun if known.uid in new_uids)
            )
        if not new_uids:
            self.corrections.look_for_moved(target)
            self.connection.open(folder.name)
            moved = {known.key for known in begun}
            lost = [known for known in self._waiting(folder) if known.key in moved]
            with self.state.change():  # so that no message is copied twice
                self.state.note(*(known._replace(target_uid=NOT_SEEN) for known in lost))

    def _waiting(self, folder: Folder) -> list[Record]:
        begun = self.state.begun(folder.name, folder.validity)
        return [known for known in begun if known.target and not known.target_uid]

    def _settle(self, folder: Folder) -> None:
        """Record where moved messages are now. If they were copied, remove originals that equal a copy."""
        seen = [known for known in self.state.begun(folder.name, folder.validity) if known.target_uid > 0]
        left = set(flags(self.connection, [known.uid for known in seen]))  # the server copied them
        gone = [known for known in seen if known.uid not in left]
        copied = self._with_identical_copy(folder, [known for known in seen if known.uid in left])
        if copied:
            uids = [known.uid for known in copied]
            self.connection.flag(uids, DELETED)
            if self.connection.has("UIDPLUS"):
                self.connection.remove(uids)
        kept = [known for known in seen if known not in gone and known not in copied]
        with self.state.change():
            for known in (*gone, *copied):
                validity = self.mailbox.reached(known.target).validity
                there = known.arrived(known.target, validity, known.target_uid)
                self.state.note(there._replace(ours=True, flag=""))
            self.state.note(*(known._replace(target="", target_uid=0, since=0) for known in kept))
        for known in kept:
            why = f"the copy in {known.target} is gone or differs from the message, so the message stays here"
            self.mailbox.report_failure(folder.name, why, known.uid)

    def _with_identical_copy(self, folder: Folder, copied: Sequence[Record]) -> list[Record]:
        """Return those messages of `copied` whose copies in the target folders are identical to them."""
        if not copied:
            return []
        originals = self._hashes([known.uid for known in copied])
        copies: dict[tuple[str, int], bytes] = {}
        for target in {known.target for known in copied}:
            self.connection.open(target, read_only=True)
            uids = [known.target_uid for known in copied if known.target == target]
            there = {uid for uid, set_ in flags(self.connection, uids).items() if DELETED not in set_}
            copies |= {(target, uid): found for uid, found in self._hashes(sorted(there)).items()}
        self.connection.open(folder.name)
        found = ((known, originals.get(known.uid), (known.target, known.target_uid)) for known in copied)
        return [known for known, original, place in found if original and original == copies.get(place)]

    def _hashes(self, uids: Sequence[int]) -> dict[int, bytes]:
        found = messages(self.connection, uids)
        return {message.uid: key_of(message.raw) for message in found if not message.why}
