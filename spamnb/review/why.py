"""Why a message got its verdict: the report of `spamnb inspect`, and the message as HTML in a frame."""

from __future__ import annotations

import re

from spamnb.errors import NoInput
from spamnb.history.schema import Entry
from spamnb.inspection.explanation import explain
from spamnb.model import Model
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.formats import signed
from spamnb.pages.message_sections import message_sections
from spamnb.pages.parts import SUBJECT, subject_text, verdict_text
from spamnb.reading.message import read
from spamnb.review.context import PageContext
from spamnb.review.inbox import SENDER, buttons, moment

# They would make a browser look up a name, or go elsewhere; the policy of the frame forbids all the rest.
LEADING_AWAY = re.compile("<(?=(?:link|meta|base)[^a-z0-9])", re.IGNORECASE)


def why_page(context: PageContext, id_: int) -> str:
    entry = known_entry(context, id_)
    raw = context.history.message(id_)
    if raw is None:
        gone = "Its text is not kept any more, so there is nothing to show of it, and it cannot be learned."
        return context.page("Why", masthead(context, entry), element("p", gone, class_="note"))
    model = Model.open(entry.model)
    back = context.url(f"/message/{id_}", **context.filters)
    return context.page(
        f"{entry.verdict}: {entry.subject}"[:SUBJECT],
        masthead(context, entry),
        context.form("/correct", back, buttons(entry, model.labels), class_="actions"),
        *message_sections(explain(model, raw), frame(context, entry, raw)),
    )


def known_entry(context: PageContext, id_: int) -> Entry:
    entry = context.history.entry(id_) if id_ < 1 << 63 else None
    if entry is None:
        raise NoInput("there is no such message in the history; it may be too old")
    return entry


def masthead(context: PageContext, entry: Entry) -> Markup:
    then = f" · judged so with a score of {signed(entry.score)}; below, by what the model knows now"
    return element(
        "div",
        element(
            "p",
            element(
                "a", "← To review", href=context.url("/", **context.filters) + f"#m{entry.id}", id="back"
            ),
        ),
        element("h1", verdict_text(entry.verdict), ": ", subject_text(entry.subject)),
        element("p", untrusted(entry.sender, SENDER), " · ", moment(entry.time), then, class_="intro"),
        class_="title",
    )


def frame(context: PageContext, entry: Entry, raw: bytes) -> Markup | None:
    """Show the HTML of a message where nothing of it can run, load or lead away."""
    if html_of(raw) is None:
        return None
    shown = element(
        "iframe",
        src=context.url(f"/message/{entry.id}/html"),
        sandbox="",
        loading="lazy",
        referrerpolicy="no-referrer",
        title="The message as HTML",
    )
    summary = element("summary", "As HTML, without scripts, remote pictures and links")
    return element("details", summary, shown, class_="frame")


def html_of(raw: bytes) -> str | None:
    """Find the first part of a message that is HTML."""
    parts = (part for part in read(raw).leaves if part.content_type == "text/html" and part.text)
    return next((part.text for part in parts), None)


def framed_html(context: PageContext, id_: int) -> str:
    known_entry(context, id_)
    raw = context.history.message(id_)
    return LEADING_AWAY.sub("<x-", html_of(raw) or "") if raw else ""
