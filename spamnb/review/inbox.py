"""The "To review" page: messages to correct by a key or a click, the least sure verdicts first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.history.queries import is_number
from spamnb.history.schema import SEPARATOR, Entry
from spamnb.labels import HAM, SPAM, UNSURE, plain_label, sorted_into
from spamnb.pages.colours import colour_of_label
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.formats import count
from spamnb.pages.parts import label_text, subject_text, verdict_text
from spamnb.reading.envelope import sender_name
from spamnb.review.context import PageContext, choices, heading, hidden, note, url
from spamnb.store.stored_model import labels_of

SHOWN = 50  # messages of a page; the script loads the next as they are needed
BEFORE = 100  # messages shown before the one that the user returns to
SENDER, REASON = 60, 150  # characters shown of each
MAX_SEARCH = 200
ORDERS = {"doubt": "doubtful first", "date": "newest first"}
# Values of `verdict` in a query: not spam, but unclear in which folder; in Junk, but perhaps by mistake.
FOLDER, JUNK = "folder", "junk"
WAYS_IN = (
    ("Mail at a provider (IMAP)", "spamnb imap setup"),
    ("… and after that, in imap.toml", "history = true"),
    ("procmail: in .procmailrc", "| spamnb classify -p --history"),
    ("A server", "spamnb serve --history"),
    ("Mail that you have, once", "spamnb review MAILBOX"),
)
KEYS = (
    ("j k", "next, previous"),
    ("s h", "it is spam, not spam"),
    ("1 2 …", "file under the first, second … label"),
    ("u", "undo"),
    ("x", "select; s and h then apply to all selected"),
    ("Enter", "why"),
    ("/", "search"),
    ("Esc", "back to the list"),
    ("?", "these keys"),
)


def inbox_page(context: PageContext) -> str:
    if not context.history.entries("time", limit=1):
        return context.page("To review", heading("To review"), history_hints())
    order, asked = list_asked(context)
    after, at = context.query.get("after"), context.query.get("at", "")
    earlier = None
    if is_number(at):
        entries = context.history.entries_near(int(at), order, BEFORE, **asked)
        if len(entries) > BEFORE and str(entries[BEFORE].id) == at:
            earlier = element("p", element("a", "from the first", href=url("/", **context.filters)))
    else:
        entries = context.history.entries(order, **asked, limit=SHOWN, after=after)
    labels = known_labels(context.model_path)
    nothing = note("No mail matches.", "Show all mail")
    listed = listed_messages(context, entries, labels, order) if entries else nothing
    more = None
    if len(entries) >= SHOWN:
        next_page = url("/", **context.filters, after=entries[-1].cursor)
        more = element("p", element("a", "more", href=next_page, id="more"))
    title = element("h1", "To review")
    form = search_form(context, labels)
    head = element("div", title, lists(context, labels), counts(context, asked), form, class_="title list")
    return context.page("To review", head, earlier, listed, more, key_help())


def lists(context: PageContext, labels: Sequence[str]) -> Markup | None:
    """Return links to the lists "Spam?", "Which folder?", "In Junk by mistake?"; None if only one exists."""
    found: list[tuple[str, str | None]] = [("Spam?", None)]
    if sorted_into(labels):
        found.append(("Which folder?", FOLDER))
    if any(context.history.count_doubts(is_by_provider=True)):
        found.append(("In Junk by mistake?", JUNK))
    asked = context.filters["verdict"]
    here = asked if asked in (FOLDER, JUNK) else None
    links = [
        element("a", name, href=url("/", verdict=verdict), aria_current="true" if verdict == here else None)
        for name, verdict in found
    ]
    return element("nav", links, aria_label="Lists", class_="lists") if len(links) > 1 else None


def history_hints() -> Markup:
    """Tell how to keep a history: the command or setting for each way in which mail may arrive."""
    lines = [
        element("div", element("dt", where), element("dd", element("code", line))) for where, line in WAYS_IN
    ]
    words = (
        "No mail yet: the filter must keep a history of what it judges. Use one of these lines where your "
        "mail is judged, and load this page again once some mail has arrived:"
    )
    return element("div", element("p", words), element("dl", lines, class_="headers"), class_="note ways-in")


def list_asked(context: PageContext) -> tuple[str, dict[str, Any]]:
    """Return the order and the filters of the requested list, for `History.entries`."""
    asked = context.filters
    order = "date" if asked["order"] == "date" else "doubt"
    text, verdict = (asked["text"] or "")[:MAX_SEARCH], asked["verdict"] or None
    if verdict == FOLDER:
        return order, {"text": text, "asks_folder": True}
    if verdict == JUNK:
        return order, {"text": text, "is_by_provider": True}
    return order, {"text": text, "verdict": verdict, "asks_folder": False}


def counts(context: PageContext, asked: dict[str, Any]) -> Markup:
    """Show how many messages of the list are unsure, and how many sure; our script updates both numbers."""
    numbers = [element("b", count(number)) for number in context.history.count_doubts(**asked)]
    return element("p", numbers[0], " unsure · ", numbers[1], " sure", id="doubts", class_="intro")


def known_labels(model: str) -> Sequence[str]:
    try:
        return labels_of(model)
    except SpamnbError:
        return (HAM, SPAM)  # the model is gone; marking a message reports that


def search_form(context: PageContext, labels: Sequence[str]) -> Markup:
    now = {name: value or "" for name, value in context.filters.items()}
    field = element("input", type="search", name="text", value=now["text"], id="search", placeholder="search")
    verdicts = {"": "all"} | {verdict: plain_label(verdict) for verdict in (UNSURE, *labels)}
    is_list = now["verdict"] in (FOLDER, JUNK)
    verdict = {} if is_list else {"Verdict": choices("verdict", verdicts, now["verdict"])}
    order = {"Order": choices("order", ORDERS, now["order"])}
    fields = {"Search sender and subject": field} | verdict | order
    return element(
        "form",
        [element("label", element("span", name, class_="hidden"), field) for name, field in fields.items()],
        hidden("verdict", now["verdict"]) if is_list else None,
        element("button", "show", class_="show"),
        element("button", "?", type="button", popovertarget="keys", aria_label="Keys"),
        action="/",
        class_="search",
        role="search",
    )


def listed_messages(
    context: PageContext, entries: Sequence[Entry], labels: Sequence[str], order: str
) -> Markup:
    """List messages in an HTML form with buttons that correct them."""
    for_all = [
        element("button", name, type="button", data_select=name, aria_label=f"Select {name}")
        for name in ("all", "none")
    ]
    bar = element("span", element("b", "0"), " selected", id="selected"), for_all
    return context.form(
        "/correct",
        url("/", **context.filters, after=context.query.get("after"), at=context.query.get("at")),
        rows_of(context, entries),
        element("div", bar, label_buttons(labels, "all", "", None), class_="bar-below"),
        class_=f"messages by-{order}",
    )


def rows_of(context: PageContext, entries: Sequence[Entry]) -> Markup:
    labels = cache(known_labels)
    return element("ol", [message_row(context, one, labels(one.model)) for one in entries], class_="rows")


def updated_rows(context: PageContext, ids: Iterable[int]) -> str:
    return rows_of(context, list(filter(None, map(context.history.entry, ids))))


def message_row(context: PageContext, entry: Entry, labels: Sequence[str]) -> Markup:
    id_, subject = str(entry.id), subject_text(entry.subject)
    was_other = entry.correction not in (None, entry.verdict)
    before = f"was {plain_label(entry.verdict)}: " if was_other else ""
    first, separator, second = entry.reasons.partition(SEPARATOR)
    rest = element("span", separator, untrusted(second, REASON)) if second else None  # hidden on a phone
    sender = untrusted(sender_name(entry.sender), SENDER)
    is_so = {"unsure": entry.verdict == UNSURE, "corrected": entry.correction}
    address = url(f"/message/{id_}", **context.filters)
    return element(
        "li",
        element("input", type="checkbox", name="id", value=id_, aria_labelledby=f"t{id_}"),
        verdict_text(entry.correction or entry.verdict, "verdict"),
        element("a", subject, href=address, class_="subject", id=f"t{id_}"),
        element("span", sender, class_="sender", title=entry.sender),
        element("span", before, untrusted(first, REASON), rest, class_="reason"),
        time_text(entry.date),
        buttons(entry, labels),
        id=f"m{id_}",
        class_=" ".join(name for name, so in is_so.items() if so) or None,
    )


def buttons(entry: Entry, labels: Sequence[str]) -> Markup:
    """Make a button for each label or, if the message was corrected, a button to undo the correction."""
    id_, about = str(entry.id), f"t{entry.id}"
    if entry.correction:
        undo = element("button", "undo", name="undo", value=id_, data_key="u", aria_describedby=about)
        label = verdict_text(entry.correction)
        return element("span", element("span", "learned as ", label), " ", undo, class_="marks")
    return label_buttons(labels, "one", f"{id_}:", about)


def label_buttons(labels: Sequence[str], name: str, before: str, about: str | None) -> Markup:
    """Make a button for each label; if there are more than two, one for spam, and a menu for the others."""
    made = {}
    for label in labels:
        key, value = {SPAM: "s", HAM: "h"}.get(label), before + label
        facts = {"name": name, "value": value, "class_": colour_of_label(label), "data_key": key}
        made[label] = element("button", label_text(label), **facts, aria_describedby=about)
    if len(labels) <= 2:
        return element("span", made.values(), class_="marks")
    spam = made.pop(SPAM, None)
    summary = element("summary", "File under …", aria_describedby=about)
    menu = element("details", summary, element("div", made.values()), class_="menu")
    return element("span", spam, menu, class_="marks")


def time_text(seconds: float) -> Markup:
    """Show a time in the time zone of this machine."""
    at = time.localtime(seconds)
    day, clock, zone = (time.strftime(form, at) for form in ("%Y-%m-%d", "%H:%M", ":%S%z"))
    return element("time", day, element("span", f" {clock}"), datetime=f"{day}T{clock}{zone}")


def key_help() -> Markup:
    """Explain the list and its keys, in a box that the button "?" opens."""
    items = [
        element(
            "div",
            element("dt", [(element("kbd", key), " ") for key in names.split()]),
            element("dd", meaning),
        )
        for names, meaning in KEYS
    ]
    words = "The verdicts that the filter was least sure of come first. Corrections are learned at once."
    return element("div", element("p", words), element("dl", items), id="keys", popover="", class_="keys")
