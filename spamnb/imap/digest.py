"""The digest: a message in the inbox that lists new mail in Junk; mail that looks like ham comes first."""

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
from spamnb.imap.own_mail import signed
from spamnb.imap.providers import link_to
from spamnb.imap.state import Progress, key_of
from spamnb.inspection.in_words import short_reasons
from spamnb.labels import HAM
from spamnb.model import Model
from spamnb.pages.elements import Markup, element, shortened
from spamnb.pages.parts import page
from spamnb.reading.envelope import envelope_of, sender_once

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.state import State

MAX_LISTED = 200  # messages listed in each part of the digest
MAX_TEXT = 80  # characters of a sender or a subject
WHO_PROVIDER = "Your provider put them there; spamnb would not have."
WHO_SPAMNB = "spamnb moved them there, the least sure first."
HOW = "Move what is not spam back to the inbox: it is learned from that."
PAGE = "font: 16px/1.45 sans-serif; max-width: 40em; margin: 0 auto; padding: 0 8px; overflow-wrap: anywhere"
TITLE = "font-size: 1.25em"
ROW = "border-top: 1px solid #8888; padding: 10px 0"


class JunkMessage(NamedTuple):
    """A message in Junk, as the digest lists it."""

    score: float
    sender: str
    subject: str
    date: str
    reason: str
    link: str


def send_digest(account: Account, connection: ImapConnection, state: State, model: str) -> tuple[int, str]:
    """Put a message that lists new mail in Junk into the inbox; return how many it lists, and Junk's name."""
    roles = roles_in(account, connection.folders())
    if not roles.junk:
        raise DataError('found no Junk folder; name it in imap.toml: junk = "…"')
    folder, _, uids = look_into(connection, state, roles.junk, "digest")
    unlabeled = {known.key: known for known in state.unlabeled(folder.name)}
    judged_until, next_uid = state.progress("moved", folder.name).next_uid, folder.next_uid
    put_by_us, like_ham = [], []
    for uid, head in heads(connection, uids):
        known = unlabeled.get(key := key_of(head))
        if known and (known.ours or known.target):
            put_by_us.append(uid)
        elif known and known.verdict == HAM:
            like_ham.append(uid)
        elif uid >= judged_until > 0 and not state.record(key):  # not judged yet: listed in the next digest
            next_uid = min(uid, next_uid)
    judge = Model.open(model)
    found = [sorted(junk_messages(account, connection, judge, some)) for some in (like_ham, put_by_us)]
    if any(found):
        connection.append(roles.inbox[0], signed(digest_of(account, roles.junk, *found)))
    with state.change():
        state.advance("digest", folder.name, Progress(folder.validity, next_uid))
    return sum(map(len, found)), roles.junk


def junk_messages(
    account: Account, connection: ImapConnection, model: Model, uids: list[int]
) -> list[JunkMessage]:
    """Judge messages of the open folder; return what the digest shows of each, such as sender and reason."""
    found = []
    for message in messages(connection, uids):
        parsed = read(message.raw)
        features = model.features(parsed)
        score = model.score(features)
        envelope, verdict = envelope_of(parsed), model.decide(score)
        reasons = short_reasons(model, parsed, features, score, verdict)
        date = datetime.fromtimestamp(date_of(parsed, time.time())).strftime("%Y-%m-%d %H:%M")
        texts = (sender_once(envelope.sender), envelope.subject or "(no subject)", date, (*reasons, "")[0])
        link = link_to(account.host, envelope.message_id) if envelope.message_id else ""
        shown = [shortened(printable(text), MAX_TEXT) for text in texts]
        found.append(JunkMessage._make((verdict.score, *shown, link)))
    return found


def digest_of(
    account: Account, junk: str, like_ham: list[JunkMessage], put_by_us: list[JunkMessage]
) -> bytes:
    """Return the digest: a mail that lists `like_ham`, put into Junk by the provider, then `put_by_us`."""
    message = EmailMessage()
    message["From"] = f"spamnb <{account.user if '@' in account.user else 'spamnb@localhost'}>"
    message["To"] = message["From"]
    titles = []
    if like_ham:
        verb = "looks" if len(like_ham) == 1 else "look"
        titles.append(f"{counted(len(like_ham), 'message')} in {junk} {verb} like mail you keep")
    if put_by_us:
        titles.append(f"{counted(len(put_by_us), 'message')} went to {junk}")
    message["Subject"] = "; ".join(titles)
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = f"<{time.time_ns()}@spamnb.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    parts = [part for part in ((like_ham, WHO_PROVIDER), (put_by_us, WHO_SPAMNB)) if part[0]]
    texts, pages = [], []
    for title, (found, who) in zip(titles, parts, strict=True):
        shown, left = found[:MAX_LISTED], len(found) - MAX_LISTED
        more = f"and {left:,} more, which are more certainly spam" if left > 0 else ""
        texts.append("\n".join([title, f"{who} {HOW}\n", *map(as_text, shown), more]))
        introduction = element("h1", title, style=TITLE), element("p", f"{who} {HOW}")
        pages.append([*introduction, *map(as_html, shown), element("p", more)])
    message.set_content("\n".join(texts))
    html = page(message["Subject"], None, element("main", pages, style=PAGE))
    message.add_alternative(html, subtype="html")
    return message.as_bytes(policy=message.policy.clone(linesep="\r\n"))


def as_text(one: JunkMessage) -> str:
    link = one.link if one.link.startswith("https:") else ""  # no mail program opens others from plain text
    lines = one.sender, one.subject, one.date, one.reason, link
    return "\n  ".join(filter(None, lines)) + "\n"


def as_html(one: JunkMessage) -> Markup:
    """Return HTML for one listed message, one fact per line: columns would be too narrow on a phone."""
    subject = element("bdi", one.subject)
    return element(
        "div",
        element("div", element("strong", element("bdi", one.sender))),
        element("div", element("a", subject, href=one.link) if one.link else subject),
        element("div", element("small", " · ".join(filter(None, (one.date, one.reason))))),
        style=ROW,
    )
