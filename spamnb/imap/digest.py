"""A message in the inbox that lists what went to Junk: to put a mistake right, its owner moves it back."""

from __future__ import annotations

import time
from email.message import EmailMessage
from email.utils import formatdate
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import score_text
from spamnb.errors import DataError
from spamnb.files import counted, printable
from spamnb.imap.fetch import heads, messages
from spamnb.imap.folders import roles_in
from spamnb.imap.mailbox import look_into
from spamnb.imap.state import Known, Progress, head_of, key_of
from spamnb.inspection.explanation import deciding_words
from spamnb.labels import HAM
from spamnb.model import Model
from spamnb.reading.envelope import envelope_of
from spamnb.reading.message import read

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
    """Put a list of what went to Junk since the last one into the inbox; return how many it has.

    A list that the server did not take is sent the next time. If the connection broke as it was sent, we look
    whether it is there: its Message-ID says where the list before it ended.
    """
    roles = roles_in(account, connection.folders())
    if not roles.junk:
        raise DataError('no folder of junk; set junk = "…"')
    inbox = roles.inbox[0]
    before, tried = (state.progress(purpose, roles.junk) for purpose in ("digest", "digest tried"))
    if tried != before:
        connection.open(inbox, read_only=True)
        if connection.search("HEADER", "Message-ID", id_after(before)):
            with state.change():
                state.advance("digest", roles.junk, tried)
    folder, before, uids = look_into(connection, state, roles.junk, "digest")
    put = state.put_by_us(folder.name)
    ours = [uid for uid, head in heads(connection, uids) if key_of(head) in put]
    found = sorted(listed(connection, Model.open(model), ours))
    reached = Progress(folder.validity, folder.next_uid)
    if found:
        raw = digest_of(account, found, id_after(before))
        with state.change():  # noted before it is there: it is never judged
            state.note(Known(key_of(head_of(raw)), inbox, 0, 0, HAM, label=HAM))
            state.advance("digest tried", folder.name, reached)
        connection.append(inbox, raw)
    with state.change():
        for purpose in ("digest", "digest tried"):
            state.advance(purpose, folder.name, reached)
        state.advance("digest time", "", Progress(modseq=int(time.time())))
    return len(found)


def id_after(before: Progress) -> str:
    """End of the Message-ID of the list after another that went so far."""
    return f".{before.validity}.{before.next_uid}@spamnb.invalid"


def digest_is_due(account: Account, state: State) -> bool:
    """Whether none was sent since the time of day that it is to come, which is over.

    One that was sent at a time that is still to come was not: the clock was wrong.
    """
    hour, minute = map(int, account.digest.split(":"))
    now = time.localtime()
    due = time.mktime((*now[:3], hour, minute, 0, 0, 0, -1))
    return due <= time.time() and not due <= state.progress("digest time", "").modseq <= time.time()


def listed(connection: ImapConnection, model: Model, uids: list[int]) -> list[Listed]:
    """Read messages of the open folder, and why they are there."""
    found = []
    for message in messages(connection, uids):
        parsed = read(message.raw)
        envelope, verdict = envelope_of(parsed), model.classify_message(parsed)
        words = ", ".join(deciding_words(model, parsed, verdict.label))
        texts = (printable(text)[:WIDEST] for text in (envelope.sender, envelope.subject, words))
        found.append(Listed(verdict.score, *texts))
    return found


def digest_of(account: Account, found: list[Listed], id_end: str) -> bytes:
    """Write the message, plain and as HTML, the least sure first."""
    message = EmailMessage()
    message["From"] = f"spamnb <{account.user if '@' in account.user else 'spamnb@localhost'}>"
    message["To"] = message["From"]
    message["Subject"] = f"{counted(len(found), 'message')} went to Junk"
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = f"<{time.time_ns()}{id_end}>"
    message["Auto-Submitted"] = "auto-generated"
    shown = found[:MOST_LISTED]
    more = f"and {len(found) - len(shown)} more, of which it is surer\n" if len(found) > len(shown) else ""
    lines = [
        f"{score_text(one.score, 1):>6}  {one.sender}\n        {one.subject}\n        {one.words}\n"
        for one in shown
    ]
    message.set_content(f"{HOW}\n\n" + "\n".join(lines) + more)
    rows = "".join(
        f"<tr><td>{score_text(one.score, 1)}</td><td>{escape(one.sender)}</td><td>{escape(one.subject)}</td>"
        f"<td>{escape(one.words)}</td></tr>"
        for one in shown
    )
    head = "<tr><th>score</th><th>from</th><th>subject</th><th>why</th></tr>"
    message.add_alternative(f"<p>{HOW}</p><table>{head}{rows}</table><p>{more}</p>", subtype="html")
    return message.as_bytes(policy=message.policy.clone(linesep="\r\n"))
