"""A message in the inbox that lists what went to Junk: to put a mistake right, its owner moves it back."""

from __future__ import annotations

import time
from datetime import datetime
from email.message import EmailMessage
from email.utils import formatdate
from typing import TYPE_CHECKING, NamedTuple

from spamnb.core.native import read
from spamnb.errors import DataError
from spamnb.files import counted, printable
from spamnb.history.gathering import date_of
from spamnb.imap.fetch import heads, messages
from spamnb.imap.folders import roles_in
from spamnb.imap.mailbox import look_into
from spamnb.imap.providers import link_to
from spamnb.imap.state import Known, Progress, head_of, key_of
from spamnb.inspection.in_words import short_reasons
from spamnb.labels import HAM
from spamnb.model import Model
from spamnb.pages.elements import Markup, element
from spamnb.reading.envelope import envelope_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.state import State

MOST_LISTED = 200  # messages, the least sure
WIDEST = 80  # characters of a sender or a subject
HOW = "Move what is not spam back to the inbox: it is learned from that. The least sure come first."
PAGE = "font: 16px/1.45 sans-serif; max-width: 40em; margin: 0 auto; padding: 0 8px; overflow-wrap: anywhere"
ROW = "border-top: 1px solid #8888; padding: 10px 0"


class Listed(NamedTuple):
    """A message that went to Junk."""

    score: float
    sender: str
    subject: str
    date: str
    reason: str
    link: str


def send_digest(account: Account, connection: ImapConnection, state: State, model: str) -> int:
    """Put a list of what went to Junk since the last one into the inbox; return how many it has."""
    roles = roles_in(account, connection.folders())
    if not roles.junk:
        raise DataError('no folder of junk; set junk = "…"')
    folder, _, uids = look_into(connection, state, roles.junk, "digest")
    put = state.put_by_us(folder.name)
    ours = [uid for uid, head in heads(connection, uids) if key_of(head) in put]
    found = sorted(listed(account, connection, Model.open(model), ours))
    if found:
        raw = digest_of(account, found)
        with state.change():  # noted before it is there: it is never judged
            state.note(Known(key_of(head_of(raw)), roles.inbox[0], 0, 0, HAM, label=HAM))
        connection.append(roles.inbox[0], raw)
    with state.change():
        state.advance("digest", folder.name, Progress(folder.validity, folder.next_uid))
    return len(found)


def listed(account: Account, connection: ImapConnection, model: Model, uids: list[int]) -> list[Listed]:
    """Read messages of the open folder, and why they are there."""
    found = []
    for message in messages(connection, uids):
        parsed = read(message.raw)
        features = model.features(parsed)
        score = model.score(features)
        envelope, verdict = envelope_of(parsed), model.decide(score)
        reasons = short_reasons(model, parsed, features, score, verdict)
        date = datetime.fromtimestamp(date_of(parsed, time.time())).strftime("%d %b %Y, %H:%M")
        texts = (envelope.sender, envelope.subject or "(no subject)", date, (*reasons, "")[0])
        link = link_to(account.host, envelope.message_id) if envelope.message_id else ""
        found.append(Listed._make((verdict.score, *[printable(text)[:WIDEST] for text in texts], link)))
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
    more = f"and {len(found) - len(shown):,} more, of which it is surer" if len(found) > len(shown) else ""
    message.set_content(f"{HOW}\n\n" + "\n".join(map(as_text, shown)) + (more and f"\n{more}\n"))
    page = element("body", element("p", HOW), map(as_html, shown), element("p", more), style=PAGE)
    viewport = element("meta", name="viewport", content="width=device-width, initial-scale=1")
    html = element("html", element("head", element("meta", charset="utf-8"), viewport), page)
    message.add_alternative(f"<!doctype html>\n{html}\n", subtype="html")
    return message.as_bytes(policy=message.policy.clone(linesep="\r\n"))


def as_text(one: Listed) -> str:
    lines = one.sender, one.subject, one.date, one.reason, one.link
    return "\n  ".join(filter(None, lines)) + "\n"


def as_html(one: Listed) -> Markup:
    """Write a message as a block: on a phone, what is beside each other is too small to read."""
    subject = element("bdi", one.subject)
    return element(
        "div",
        element("div", element("strong", element("bdi", one.sender))),
        element("div", element("a", subject, href=one.link) if one.link else subject),
        element("div", element("small", " · ".join(filter(None, (one.date, one.reason))))),
        style=ROW,
    )
