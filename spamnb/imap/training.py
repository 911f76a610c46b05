"""Training on the folders of a mailbox: one thread fetches mail, the others tokenize it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spamnb.configuration import load
from spamnb.core.native import hash_of_message, read
from spamnb.errors import DataError
from spamnb.history.log import append_lessons
from spamnb.history.queries import BY_PROVIDER
from spamnb.imap.connection import ImapConnection
from spamnb.imap.errors import Broken, NotLoggedIn
from spamnb.imap.fetch import FETCHED, cut, heads, messages
from spamnb.imap.folders import roles_in
from spamnb.imap.kept import DAYS, MAX_LEARNED, days_ago, is_settled_late, kept, not_kept
from spamnb.imap.mailbox import history_of, look_into
from spamnb.imap.own_mail import is_own
from spamnb.imap.rescue import moved_there
from spamnb.imap.state import Progress, Record, key_of
from spamnb.labels import HAM, LABELS, SPAM
from spamnb.mailboxes.chunks import RawMessage, ReadMessages
from spamnb.mailboxes.skipped import Unreadable
from spamnb.model import Model
from spamnb.reading.envelope import envelope_of
from spamnb.store.changes import FORGOTTEN, LEARNED
from spamnb.store.stored_model import StoredModel
from spamnb.threads import in_threads
from spamnb.training.batches import ChunkReader
from spamnb.training.learn import learn
from spamnb.training.train import train
from spamnb.workers import LocalPool

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import Folder
    from spamnb.imap.state import State
    from spamnb.reading.envelope import Envelope
    from spamnb.training.batches import Batch, MailToRead
    from spamnb.training.known_messages import Summary

    Wanted = list[tuple[str, Folder, list[int]]]  # label, folder, and the UIDs of its messages

ATTEMPTS = 5  # to connect again before training is given up
SORTED_DAYS = 365  # maximal age of mail learned from folders that mail is sorted into
FIRST_PAUSE = 2.0  # seconds before the second attempt; twice as many before each later one


class FetchingPool(LocalPool):
    """Threads that tokenize mail while the calling thread fetches more."""

    def __init__(self, chunks: Iterator[tuple[ReadMessages, str]]) -> None:
        super().__init__(None)
        self.chunks = chunks

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        return in_threads(ChunkReader(mail.settings, mail.learned_hashes), self.chunks, self.jobs)


class MailboxTraining:
    """Learns new messages of a mailbox: in folders of ham, in Junk, and in folders for other labels."""

    def __init__(self, account: Account, connection: ImapConnection, state: State) -> None:
        self.account = account
        self.connection = connection
        self.state = state
        self.doubted: list[Envelope] = []  # messages in Junk that look like ham, and were not learned
        self.roles = roles_in(account, connection.folders())
        if not self.roles.ham and not self.roles.junk:
            raise DataError('found no Junk folder, and imap.toml names no ham folder; add one: ham = ["…"]')
        named = [(label, name) for name, label in self.roles.labels.items()]  # first: mail in both is not ham
        named += [(HAM, name) for name in self.roles.ham]
        self.wanted: Wanted = [(label, *self._new(name)) for label, name in named]
        if not state.is_trained() and {label for label, _, uids in self.wanted if uids} == {SPAM}:
            where = ", ".join(self.roles.ham) or "any folder"
            why = f"found no ham in {where}: a model that learned only spam would judge all mail spam"
            raise DataError(f'{why}; in imap.toml, name a folder of mail you keep, e.g. ham = ["INBOX"]')

    def _new(self, name: str) -> tuple[Folder, list[int]]:
        """Return a folder and the UIDs of new messages to learn from it, except what spamnb moved there."""
        folder, before, uids = look_into(self.connection, self.state, name, "trained")
        if name in self.roles.ham:
            stays = set(kept(self.connection, self.roles, name))
            if is_settled_late(self.roles, name):  # too new to be learned: looked at again next time
                day = days_ago(DAYS)
                new = self.connection.from_uid(1, "SINCE", day, "SENTSINCE", day)
                first = min(new, default=folder.next_uid)
                folder = replace(folder, next_uid=first)
            uids = [uid for uid in uids if uid in stays]
            uids = uids if before.validity else uids[-MAX_LEARNED:]
            others = self.state.spam_keys() | not_kept(self.connection, self.roles, name)
            if others and uids:
                uids = [uid for uid, head in heads(self.connection, uids) if key_of(head) not in others]
            return folder, uids
        if name in self.roles.sort.values():
            of_late = set(self.connection.search("SINCE", days_ago(SORTED_DAYS)))
            uids = [uid for uid in uids if uid in of_late]
        if self.state.was_set_aside() and not before.validity:
            return folder, []  # which messages spamnb moved there is no longer known
        if unlabeled := {known.key for known in self.state.unlabeled(name)}:
            uids = [uid for uid, head in heads(self.connection, uids) if key_of(head) not in unlabeled]
        if name == self.roles.junk and before.validity:  # the first time, there is no other spam to learn
            uids = sorted(moved_there(self.connection, uids))
        return folder, uids

    def __len__(self) -> int:
        return sum(len(uids) for _, _, uids in self.wanted)

    def run(self, model: str, step: Callable[[int, int], None]) -> Summary:
        """Learn all new messages, replace the model in one step, and store how far each folder was read."""
        labels = {
            label: [folder.name for of, folder, _ in self.wanted if of == label]
            for label in (*LABELS, *self.roles.sort)
        }
        pool = FetchingPool(self._chunks())
        of_junk: dict[int, int] = {}  # hashes, and the UIDs of the messages

        def progress(batch: Batch) -> None:
            step(len(batch), len(batch))
            if batch.label == SPAM:
                uids = (int(name.rpartition("/")[2]) for name, _ in batch.names)
                of_junk.update(zip(memoryview(batch.rows.hashes).cast("Q"), uids, strict=True))

        is_first = self.roles.junk != "" and not self.state.progress("trained", self.roles.junk).validity
        summary = train(model, labels, pool=pool, progress=progress)
        append_lessons(model, summary.lessons)
        notes = self._doubted(model, of_junk, summary) if is_first else []
        with self.state.change():
            self.state.note(*notes)
            for _, folder, _ in self.wanted:
                reached = Progress(folder.validity, folder.next_uid)
                self.state.advance("trained", folder.name, reached)
                is_junk = folder.name not in self.roles.ham
                if is_junk and not self.state.progress("moved", folder.name).validity:
                    self.state.advance("moved", folder.name, reached)  # a visit need not learn it again
        return summary

    def _doubted(self, model: str, of_junk: dict[int, int], summary: Summary) -> list[Record]:
        """Forget messages from Junk that surely are ham, as judged by all other mail; return their records.

        They were learned as spam because the first training has no other spam. The digest and the review
        page list them, so that the owner can decide.
        """
        from spamnb.inspection.assessment import score_of_sure_ham
        from spamnb.store.stored_model import load_learned

        stored = StoredModel.open(model)
        limit = score_of_sure_ham(stored)
        found = [hash_ for hash_, _, score, _ in load_learned(stored).messages() if score <= limit]
        uids = sorted(of_junk[hash_] for hash_ in found if hash_ in of_junk)
        if not uids:
            return []
        folder = self.connection.open(self.roles.junk, read_only=True)
        uids = sorted(set(uids) - moved_there(self.connection, uids))
        keys = {uid: key_of(head) for uid, head in heads(self.connection, uids)}
        notes = []
        for message in messages(self.connection, [*keys]):
            if not message.why and learn(model, message.raw, None) == FORGOTTEN:
                parsed = read(message.raw)
                append_lessons(model, [(SPAM, None, hash_of_message(parsed).to_bytes(8, "little"))])
                self.doubted.append(envelope_of(parsed))
                place = folder.name, folder.validity, message.uid
                notes.append(Record(keys[message.uid], *place, HAM))
        if history := history_of(self.account, load()):
            judge = Model.open(model)  # which does not know any of them as spam any more
            source = f"imap {self.account.name}/{folder.name}{BY_PROVIDER}"
            for message in messages(self.connection, [known.uid for known in notes]):
                history.append(message.raw, judge.classify(message.raw), model, source)
        summary.count(SPAM, LEARNED, -len(notes))
        return notes

    def _chunks(self) -> Iterator[tuple[ReadMessages, str]]:
        for label, folder, uids in self.wanted:
            for some in cut(uids, FETCHED):
                yield self._fetched(folder, some), label

    def _fetched(self, folder: Folder, uids: Sequence[int]) -> ReadMessages:
        """Fetch some messages; connect again if the connection is lost."""
        for attempt in range(ATTEMPTS):
            try:
                if attempt:
                    time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
                    self.connection.close()
                    self.connection = ImapConnection(self.account)
                is_open = self.connection.folder == folder.name
                if not is_open and self.connection.open(folder.name, True).validity != folder.validity:
                    raise DataError(f"{folder.name}: the server has renumbered the messages in it; try again")
                fetched = [one for one in messages(self.connection, uids) if not is_own(one.raw)]
                names = [f"{self.account.name}/{folder.name}/{one.uid}" for one in fetched]
                items = [
                    Unreadable(name, one.why) if one.why else RawMessage(name, None, one.raw)
                    for name, one in zip(names, fetched, strict=True)
                ]
                return ReadMessages(items, sum(len(one.raw) for one in fetched))
            except NotLoggedIn:
                raise
            except Broken:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError
