"""Parts of all pages: sections, tables, cards, figures, and texts from mail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from spamnb.labels import plain_label
from spamnb.pages.colours import colour_of_label
from spamnb.pages.elements import Child, Markup, element, untrusted

SHEETS = ("colours.css", "page.css", "message.css")
SUBJECT, PATH, TOKEN, LABEL = 160, 400, 60, 40  # characters shown of each
# Nothing is fetched and nothing runs, whatever a message brought with it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def sheet(name: str) -> str:
    """Read a style sheet of this folder."""
    return files(__package__).joinpath(name).read_text("utf-8")


def page(title: str, head: Child, *body: Child) -> str:
    """Make a page; `head` has further elements for the page's <head>."""
    first = (
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
    )
    whole = element("html", element("head", first, head), element("body", *body), lang="en")
    return "<!doctype html>\n" + whole + "\n"


def document(title: str, masthead: Markup, *sections: Child, sheets: Sequence[str] = SHEETS[:2]) -> str:
    """Make a page that is complete in one file, with our style sheets in it."""
    head = (
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="referrer", content="no-referrer"),
        [element("style", Markup(sheet(name))) for name in sheets],
    )
    return page(title, head, masthead, element("main", *sections))


def section(title: Child, intro: Child, *content: Child) -> Markup:
    """Make a section: a title, a few words (`intro`) on how to read the section, and its content."""
    return element("section", element("h2", title), intro_text(intro), *content)


def intro_text(words: Child) -> Markup | None:
    return element("p", words, class_="intro") if words else None


def table(columns: Sequence[str], rows: Iterable[Markup], class_: str | None = None) -> Markup:
    head = element("tr", [element("th", name, scope="col") for name in columns])
    return element("table", element("thead", head), element("tbody", *rows), class_=class_)


def row(name: str, *cells: str | None) -> Markup:
    return element("tr", element("th", name, scope="row"), [element("td", cell) for cell in cells])


def titled(name: str, content: Markup | None) -> Markup | None:
    """Put a title above a table; return None if there is no table."""
    return None if content is None else element("div", element("h3", name), scrolling(name, content))


def scrolling(name: str, content: Markup) -> Markup:
    """Put a wide table into an element that scrolls, by touch or keyboard; screen readers say its `name`."""
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=name)


def card(name: str, figure: Child, meaning: Child, interval: str | None = None) -> Markup:
    """Show a number in large type, with its 95 % interval and a few words about it."""
    return element(
        "div",
        element("dt", name),
        element("dd", figure, class_="figure"),
        element("dd", interval, class_="span") if interval else None,
        element("dd", meaning, class_="meaning"),
    )


def small(text: str | None) -> Markup | None:
    """Show an interval or a share in small type; return None if there is no `text`."""
    return element("span", text, class_="span") if text else None


def captioned(plot: Markup, *words: Child, title: str | None = None) -> Markup:
    """Put a title above a plot, and a sentence below it."""
    name = element("h3", title) if title else None
    return element("figure", name, plot, element("figcaption", *words))


def label_text(name: str) -> Markup:
    """Write a label or verdict in everyday words."""
    return untrusted(plain_label(name), LABEL)


def verdict_text(verdict: str, *classes: str) -> Markup:
    """Write a label or verdict in its colour."""
    return element("b", label_text(verdict), class_=" ".join((*classes, colour_of_label(verdict))))


def subject_text(subject: str) -> Markup:
    subject = subject.strip()
    return untrusted(subject, SUBJECT) if subject else element("i", "no subject")


def path_text(path: str) -> Markup:
    return untrusted(path, PATH, ending=True)


def token_text(token: str) -> Markup:
    return element("code", untrusted(token, TOKEN))
