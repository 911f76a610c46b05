"""A message in the inbox that lists what went to Junk: to put a mistake right, its owner moves it back."""

from __future__ import annotations

import time
from email.message import EmailMessage
from email.utils import formatdate
from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import score_text
from spamnb.core.native import read
from spamnb.errors import DataError
from spamnb.files import counted, printable
from spamnb.imap.fetch import heads, messages
from spamnb.imap.folders import roles_in
from spamnb.imap.mailbox import look_into
from spamnb.imap.state import Known, Progress, head_of, key_of
from spamnb.inspection.in_words import short_reasons
from spamnb.labels import HAM
from spamnb.model import Model
from spamnb.reading.envelope import envelope_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.state import State

MOST_LISTED = 200  # messages, the least sure
WIDEST = 80  # characters of a sender or a subject
HOW = "Move what is no spam back to the inbox: it is learned from that."


class Listed(NamedTuple):
    """A message that went to Junk."""

    score: float
    sender: str
    subject: str
    words: str


def send_digest(account: Account, connection: ImapConnection, state: State, model: str) -> int:
    """Put a list of what went to Junk since the last one into the inbox; return how many it has."""
    roles = roles_in(account, connection.folders())
    if not roles.junk:
        raise DataError('no folder of junk; set junk = "…"')
    folder, _, uids = look_into(connection, state, roles.junk, "digest")
    put = state.put_by_us(folder.name)
    ours = [uid for uid, head in heads(connection, uids) if key_of(head) in put]
    found = sorted(listed(connection, Model.open(model), ours))
    if found:
        raw = digest_of(account, found)
        with state.change():  # noted before it is there: it is never judged
            state.note(Known(key_of(head_of(raw)), roles.inbox[0], 0, 0, HAM, label=HAM))
        connection.append(roles.inbox[0], raw)
    with state.change():
        state.advance("digest", folder.name, Progress(folder.validity, folder.next_uid))
    return len(found)


def listed(connection: ImapConnection, model: Model, uids: list[int]) -> list[Listed]:
    """Read messages of the open folder, and why they are there."""
    found = []
    for message in messages(connection, uids):
        parsed = read(message.raw)
        features = model.features(parsed)
        score = model.score(features)
        envelope, verdict = envelope_of(parsed), model.decide(score)
        words = ", ".join(short_reasons(model, parsed, features, score, verdict))
        texts = (printable(text)[:WIDEST] for text in (envelope.sender, envelope.subject, words))
        found.append(Listed(verdict.score, *texts))
    return found


def digest_of(account: Account, found: list[Listed]) -> bytes:
    """Write the message, the least sure first."""
    message = EmailMessage()
    message["From"] = f"spamnb <{account.user if '@' in account.user else 'spamnb@localhost'}>"
    message["To"] = message["From"]
    message["Subject"] = f"{counted(len(found), 'message')} went to Junk"
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = f"<{time.time_ns()}@spamnb.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    shown = found[:MOST_LISTED]
    more = f"and {len(found) - len(shown)} more, of which it is surer\n" if len(found) > len(shown) else ""
    lines = [
        f"{score_text(one.score, 1):>6}  {one.sender}\n        {one.subject}\n        {one.words}\n"
        for one in shown
    ]
    message.set_content(f"{HOW}\n\n" + "\n".join(lines) + more)
    return message.as_bytes(policy=message.policy.clone(linesep="\r\n"))
