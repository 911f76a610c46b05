"""The list to review: what the filter was least sure of comes first, to be put right by a key or a click."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.history.schema import Entry
from spamnb.imap.places import Place
from spamnb.inspection.token_lookup import spam_leads
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR, colour_of_label
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.formats import count
from spamnb.pages.parts import label_text, subject_text, verdict_text
from spamnb.review.context import PageContext, choices, is_number
from spamnb.store.stored_model import labels_of

SHOWN = 50  # messages of a page; the script loads the next as they are needed
SENDER, WORDS, PLACE = 60, 40, 100  # characters shown of each
MOST_SOURCES = 30  # to choose from
LONGEST_SEARCH = 200
ORDERS = {"doubt": "most doubtful first", "time": "newest first"}
WAYS_IN = (
    ("IMAP: in imap.toml", "history = true"),
    ("procmail: in .procmailrc", "| spamnb classify -p --history"),
    ("A server", "spamnb serve --history"),
    ("Or any mail, now", "spamnb review ~/Maildir"),
)
KEYS = (
    ("j k", "next, previous"),
    ("s h", "it is spam, ham"),
    ("1 2 …", "it is of the first, second … label"),
    ("u", "undo"),
    ("x", "select; s and h are then about all selected"),
    ("Enter", "why"),
    ("/", "search"),
    ("Esc", "back to the list"),
    ("?", "these keys"),
)


def inbox_page(context: PageContext) -> str:
    order, asked = list_asked(context)
    after = context.query.get("after")
    entries = context.history.entries(order, **asked, limit=SHOWN, after=after)
    labels = known_labels(context.model_path)
    if entries:
        listed = listed_messages(context, entries, labels, f"by-{order}")
    else:
        is_part = after or any(context.filters.values())
        listed = context.note("Nothing here is of that kind.") if is_part else ways_in()
    more = None
    if len(entries) == SHOWN:
        url = context.url("/", **context.filters, after=entries[-1].cursor)
        more = element("p", element("a", "more", href=url, id="more"))
    title = element("h1", "To review")
    head = element("div", title, counts(context, asked), search_form(context, labels), class_="title list")
    return context.page("To review", head, listed, more, keys())


def ways_in() -> Markup:
    """Tell the one line to write for each way that mail comes in."""
    lines = [
        element("div", element("dt", where), element("dd", element("code", line))) for where, line in WAYS_IN
    ]
    words = (
        "No mail yet: the filter has to remember what it judges. Copy one line to where your mail is judged:"
    )
    return element("div", element("p", words), element("dl", lines, class_="headers"), class_="note ways-in")


def list_asked(context: PageContext) -> tuple[str, dict[str, Any]]:
    """Read the order of a list and which messages it has, for `History.entries`."""
    asked = context.filters
    only = {"verdict": asked["verdict"] or None, "source": asked["source"] or None}
    order = "time" if asked["order"] == "time" else "doubt"
    return order, {**only, "text": (asked["text"] or "")[:LONGEST_SEARCH], "model": context.model_path}


def counts(context: PageContext, asked: dict[str, Any]) -> Markup:
    """Say how much there is to do; the script keeps it true."""
    numbers = [element("b", count(number)) for number in context.history.count_doubts(**asked)]
    return element("p", numbers[0], " unsure · ", numbers[1], " sure", id="doubts", class_="intro")


def known_labels(model: str) -> Sequence[str]:
    try:
        return labels_of(model)
    except SpamnbError:
        return (HAM, SPAM)  # there is no model any more; who marks a message is told so


def search_form(context: PageContext, labels: Sequence[str]) -> Markup:
    now = {name: value or "" for name, value in context.filters.items()}
    field = element(
        "input", type="search", name="text", value=now["text"], id="search", placeholder="sender or subject"
    )
    fields = {
        "Search": field,
        "Verdict": choices("verdict", named("all verdicts", (UNSURE, *labels)), now["verdict"]),
    }
    if sources := known_sources(context):
        fields["Source"] = choices("source", named("all sources", sources), now["source"])
    fields["Order"] = choices("order", ORDERS, now["order"])
    return element(
        "form",
        [element("label", element("span", name, class_="hidden"), field) for name, field in fields.items()],
        context.model_field(),
        element("button", "show", class_="show"),
        element("button", "?", type="button", popovertarget="keys", aria_label="Keys"),
        action="/",
        class_="search",
        role="search",
    )


def named(everything: str, values: Sequence[str]) -> dict[str, str]:
    return {"": everything} | {value: value for value in values}


def known_sources(context: PageContext) -> list[str]:
    """List where mail comes from, if there is a choice; each file that was named is a source of its own."""
    found = context.history.sources(context.model_path, MOST_SOURCES + 1)
    return found if 1 < len(found) <= MOST_SOURCES else []


def listed_messages(
    context: PageContext, entries: Sequence[Entry], labels: Sequence[str], class_: str = ""
) -> Markup:
    """List messages in a form that corrects them."""
    selected = [label_button(name, "all", name) for name in labels]
    kept = {name: context.query.get(name) for name in ("after", "word")}
    return context.form(
        "/correct",
        context.url(context.path, **context.filters, **kept),
        rows_of(context, entries),
        element("div", element("span", "All selected are"), selected, class_="bar-below"),
        class_=f"messages {class_}",
    )


def rows_of(context: PageContext, entries: Sequence[Entry]) -> Markup:
    labels, colours, where = cache(known_labels), word_colours(context, entries), context.places(entries)
    if known_sources(context):
        where = {entry.id: Place(entry.source) for entry in entries} | where
    return element(
        "ol",
        [message_row(context, one, labels(one.model), colours, where.get(one.id)) for one in entries],
        class_="rows",
    )


def rows_anew(context: PageContext, ids: Iterable[int]) -> str:
    return rows_of(context, list(filter(None, map(context.history.entry, ids))))


def rows_page(context: PageContext) -> str:
    """Make the rows that the script asks for, of messages that were on their way."""
    asked = context.query.get("ids", "").split(",")
    return rows_anew(context, map(int, filter(is_number, asked[:SHOWN])))


def word_colours(context: PageContext, entries: Sequence[Entry]) -> dict[str, str]:
    """Find what each word that decided speaks for, by what the model knows now."""
    words = {word for entry in entries for word in words_in(entry)}
    try:
        leads = spam_leads(context.model, words)
    except SpamnbError:
        return {}  # there is no model any more
    return {word: SPAM_COLOUR if lead > 0 else HAM_COLOUR for word, lead in leads.items()}


def words_in(entry: Entry) -> list[str]:
    return [word for word in entry.words.split(", ") if word]


def message_row(
    context: PageContext, entry: Entry, labels: Sequence[str], colours: Mapping[str, str], place: Place | None
) -> Markup:
    id_, subject = str(entry.id), subject_text(entry.subject)
    url = context.url(f"/message/{id_}", **context.filters)
    unknown = colour_of_label(entry.verdict)  # of a word that was cut
    words = [
        element(
            "a",
            untrusted(word, WORDS),
            href=context.url("/words", word=word),
            class_=colours.get(word, unknown),
        )
        for word in words_in(entry)
    ]
    about = (
        element("span", untrusted(sender_name(entry.sender), SENDER), class_="sender", title=entry.sender),
        element("span", untrusted(place.words, PLACE), class_="source") if place else None,
        element("span", words, class_="words"),
    )
    is_so = {
        "unsure": entry.verdict == UNSURE,
        "corrected": entry.correction,
        "moving": place and not place.is_final,
    }
    return element(
        "li",
        element("input", type="checkbox", name="id", value=id_, aria_labelledby=f"t{id_}"),
        verdict_text(entry.verdict, "verdict"),
        element("a", subject, href=url, class_="subject", id=f"t{id_}"),
        element("span", about, class_="about"),
        moment(entry.time),
        buttons(entry, labels),
        id=f"m{id_}",
        class_=" ".join(name for name, so in is_so.items() if so) or None,
    )


def sender_name(sender: str) -> str:
    """Cut a sender to the name; one without a name is the address."""
    return sender.partition("<")[0].strip(' "') or sender.strip('" <>')


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
    """Explain the list and its keys, once somebody asks."""
    items = [
        element(
            "div",
            element("dt", [(element("kbd", key), " ") for key in names.split()]),
            element("dd", meaning),
        )
        for names, meaning in KEYS
    ]
    words = "What the filter was least sure of comes first. What you mark is learned at once."
    return element("div", element("p", words), element("dl", items), id="keys", popover="", class_="keys")
