"""The page of one message: the report of `spamnb inspect`, and the message as HTML in a frame."""

from __future__ import annotations

import re

from spamnb.core.native import read
from spamnb.errors import NoInput
from spamnb.history.schema import SEPARATOR, Entry
from spamnb.inspection.explanation import explain
from spamnb.labels import plain_label
from spamnb.model import Model
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.formats import signed
from spamnb.pages.message_sections import message_sections, sentence_text
from spamnb.pages.parts import SUBJECT, subject_text
from spamnb.review.context import PageContext, note, url
from spamnb.review.inbox import buttons, key_help, list_asked, time_text

SENDER = 200  # characters shown
# Tags that can look up a host or leave the page; the frame's policy forbids all other ways to do so.
LEADING_AWAY = re.compile("<(?=(?:link|meta|base)[^a-z0-9])", re.IGNORECASE)


def why_page(context: PageContext, id_: int) -> str:
    entry = known_entry(context, id_)
    raw = context.history.message(id_)
    if raw is None:
        gone = "The text of this message is no longer kept, so it can be neither shown nor learned."
        bar = element("div", links(context, entry), class_="actions")
        return context.page("Why", bar, masthead(entry), note(gone))
    model = Model.open(entry.model)
    why = explain(model, raw)
    message, reasons, details = message_sections(why, judged_line(entry, why.verdict.score))
    back = url(f"/message/{id_}", **context.filters)
    return context.page(
        f"{plain_label(entry.verdict)}: {entry.subject}"[:SUBJECT],
        context.form("/correct", back, buttons(entry, model.labels), links(context, entry), class_="actions"),
        masthead(entry, verdict_before(entry), sentence_text(why)),
        element(
            "div",
            element("div", reasons),
            element("div", message, frame(entry, raw)),
            class_="beside reading",
        ),
        details,
        key_help(),
    )


def known_entry(context: PageContext, id_: int) -> Entry:
    entry = context.history.entry(id_) if id_ < 1 << 63 else None
    if entry is None:
        raise NoInput("there is no such message in the history; it may be too old")
    return entry


def links(context: PageContext, entry: Entry) -> Markup:
    """Return links to the list, and to the previous and the next message."""
    order, asked = list_asked(context)
    there = url("/", **context.filters, at=str(entry.id)) + f"#m{entry.id}"
    back = element("a", "← list", href=there, id="back")
    found = context.history.neighbours(entry.id, order, **asked)
    links = [
        element("a", name, href=url(f"/message/{one.id}", **context.filters), data_key=key)
        for one, name, key in zip(found, ("previous", "next"), "kj", strict=True)
        if one
    ]
    return element("span", back, links, class_="ways")


def masthead(entry: Entry, *sentences: Markup | None) -> Markup:
    """Make the top of the page: subject, sender, date, and `sentences` about the verdict."""
    about = untrusted(entry.sender, SENDER), " · ", time_text(entry.date)
    return element(
        "div",
        element("h1", subject_text(entry.subject)),
        element("p", *about, class_="intro"),
        *sentences,
        class_="title",
    )


def verdict_before(entry: Entry) -> Markup | None:
    """Say how and why a message was judged before its correction; the page's other reasons are today's."""
    if entry.correction is None:
        return None
    why = f" ({entry.reasons.replace(SEPARATOR, ', ')})" if entry.reasons else ""
    words = f"It was judged {plain_label(entry.verdict)}{why}, and you said {plain_label(entry.correction)}."
    return element("p", words, " After learning that:")


def judged_line(entry: Entry, today: float) -> Markup:
    """Show when and by which command a message was judged, its score then, and the score it would get now."""
    then, now = signed(entry.score), signed(today)
    since = "as it would be now" if now == then else f"now it would be {now}"
    words = f"{entry.source}: {plain_label(entry.verdict)}, score {then}, {since}."
    return element("p", "Judged ", time_text(entry.time), " by ", words, class_="intro")


def frame(entry: Entry, raw: bytes) -> Markup | None:
    """Show the HTML of a message in a frame that cannot run scripts, use the network or open links."""
    if html_of(raw) is None:
        return None
    shown = element(
        "iframe",
        src=f"/message/{entry.id}/html",
        sandbox="",
        loading="lazy",
        referrerpolicy="no-referrer",
        title="The message as HTML",
    )
    summary = element("summary", "As HTML, without scripts, remote pictures and links")
    return element("details", summary, shown, class_="frame")


def html_of(raw: bytes) -> str | None:
    """Return the first HTML part of a message as text; None if the message has no HTML."""
    parts = (part for part in read(raw).leaves if part.content_type == "text/html" and part.text)
    return next((part.text for part in parts), None)


def framed_html(context: PageContext, id_: int) -> str:
    known_entry(context, id_)
    raw = context.history.message(id_)
    return LEADING_AWAY.sub("<x-", html_of(raw) or "") if raw else ""
