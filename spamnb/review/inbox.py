"""The inbox of doubt: what the filter was least sure of comes first, to be put right by a key or a click."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

from spamnb.errors import SpamnbError
from spamnb.history.schema import Entry
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.pages.colours import colour_of_label
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.parts import label_text, subject_text, verdict_text
from spamnb.review.context import PageContext, choices, heading, hidden
from spamnb.store.stored_model import labels_of

SHOWN = 50  # messages of a page; the script loads the next as they are needed
SENDER, WORDS = 100, 90  # characters shown of each
LONGEST_SEARCH = 200
ORDERS = {"doubt": "most doubtful first", "time": "newest first"}
EMPTY = (
    "Nothing here yet. Let the filter remember what it judges, by ",
    element("code", "spamnb classify --history"),
    " or ",
    element("code", "spamnb serve --history"),
    ", or name mail to look at: ",
    element("code", "spamnb review ~/Maildir"),
)
KEYS = (
    ("j k", "next, previous"),
    ("s h", "it is spam, ham"),
    ("1 2 …", "it is of the first, second … label"),
    ("u", "undo"),
    ("x", "select; s and h are then about all selected"),
    ("Enter", "why"),
    ("/", "search"),
    ("Esc", "back to the inbox"),
)


def inbox_page(context: PageContext) -> str:
    query = context.query
    order = query["order"] if query.get("order") in ORDERS else "doubt"
    verdict, text = query.get("verdict") or None, query.get("text", "")[:LONGEST_SEARCH]
    after = query.get("after")
    entries = context.history.entries(
        order, verdict=verdict, text=text, model=context.model_path, limit=SHOWN, after=after
    )
    labels = known_labels(context.model_path)
    if entries:
        listed = listed_messages(context, entries, labels)
    else:
        words = "Nothing of that kind." if verdict or text or after else EMPTY
        listed = element("p", words, class_="note")
    more = None
    if len(entries) == SHOWN:
        url = context.url("/", order=order, verdict=verdict, text=text, after=entries[-1].cursor)
        more = element("p", element("a", "more", href=url, id="more"))
    intro = "What the filter was least sure of comes first. What you mark is learned at once."
    search = search_form(context, order, verdict or "", text, labels)
    return context.page("Inbox", heading("Inbox of doubt", intro), search, listed, more, keys())


def known_labels(model: str) -> Sequence[str]:
    try:
        return labels_of(model)
    except SpamnbError:
        return (HAM, SPAM)  # there is no model any more; who marks a message is told so


def search_form(context: PageContext, order: str, verdict: str, text: str, labels: Sequence[str]) -> Markup:
    verdicts = {"": "all verdicts"} | {name: name for name in (UNSURE, *labels)}
    field = element(
        "input", type="search", name="text", value=text, id="search", placeholder="sender or subject"
    )
    fields = {
        "Search": field,
        "Verdict": choices("verdict", verdicts, verdict),
        "Order": choices("order", ORDERS, order),
    }
    return element(
        "form",
        [element("label", element("span", name, class_="hidden"), field) for name, field in fields.items()],
        context.model_field(),
        element("button", "show"),
        action="/",
        class_="search",
        role="search",
    )


def listed_messages(context: PageContext, entries: Sequence[Entry], labels: Sequence[str]) -> Markup:
    """List messages in a form that corrects them."""
    selected = [label_button(name, "all", name) for name in labels]
    kept = {name: context.query.get(name) for name in ("order", "verdict", "text", "after", "word")}
    return context.form(
        "/correct",
        hidden("back", context.url(context.path, **kept)),
        rows_of(context, entries),
        element("div", element("span", "All selected are"), selected, class_="bar-below"),
        class_="messages",
    )


def rows_of(context: PageContext, entries: Sequence[Entry]) -> Markup:
    labels = cache(known_labels)
    return element(
        "ol", [message_row(context, entry, labels(entry.model)) for entry in entries], class_="rows"
    )


def message_row(context: PageContext, entry: Entry, labels: Sequence[str]) -> Markup:
    id_, subject = str(entry.id), subject_text(entry.subject)
    words = [element("code", untrusted(word, WORDS)) for word in entry.words.split(", ") if word]
    return element(
        "li",
        element("input", type="checkbox", name="id", value=id_, aria_labelledby=f"t{id_}"),
        verdict_text(entry.verdict, "verdict"),
        element("a", subject, href=context.url(f"/message/{id_}"), class_="subject", id=f"t{id_}"),
        element("span", untrusted(entry.sender, SENDER), class_="sender"),
        moment(entry.time),
        element("span", words, class_="words"),
        buttons(entry, labels),
        id=f"m{id_}",
        class_="corrected" if entry.correction else None,
    )


def buttons(entry: Entry, labels: Sequence[str]) -> Markup:
    """Offer each label; of a message that has been given one, the way back."""
    id_, about = str(entry.id), f"t{entry.id}"
    if entry.correction:
        undo = element("button", "undo", name="undo", value=id_, data_key="u", aria_describedby=about)
        return element("span", "learned as ", verdict_text(entry.correction), " ", undo, class_="marks")
    marks = [label_button(name, "one", f"{id_}:{name}", about) for name in labels]
    return element("span", marks, class_="marks")


def label_button(label: str, name: str, value: str, about: str | None = None) -> Markup:
    """Make the button of a label; two labels have a key of their own, beside their number."""
    return element(
        "button",
        label_text(label),
        name=name,
        value=value,
        class_=colour_of_label(label),
        data_key={SPAM: "s", HAM: "h"}.get(label),
        aria_describedby=about,
    )


def moment(seconds: float) -> Markup:
    """Show a time as people of this machine's time zone say it."""
    at = time.localtime(seconds)
    this_year = at.tm_year == time.localtime().tm_year
    shown = time.strftime("%d %b %H:%M" if this_year else "%d %b %Y", at)
    return element("time", shown.lstrip("0"), datetime=time.strftime("%Y-%m-%dT%H:%M:%S%z", at))


def keys() -> Markup:
    listed = [
        (element("dt", [(element("kbd", key), " ") for key in names.split()]), element("dd", meaning))
        for names, meaning in KEYS
    ]
    items = [element("div", *each) for each in listed]
    return element("details", element("summary", "Keys"), element("dl", items), class_="keys")
