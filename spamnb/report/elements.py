"""HTML and SVG built element by element, up to tables and pages: what is not markup already is escaped.

Text from mail cannot become markup by forgetting a call: a plain string given to `element` is text, and only
what `element` itself returned goes through unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from spamnb.files import printable


def table(columns: Sequence[str], rows: Iterable[Markup], class_: str | None = None) -> Markup:
    head = element("tr", [element("th", name, scope="col") for name in columns])
    return element("table", element("thead", head), element("tbody", *rows), class_=class_)


def row(name: str, *cells: str | None) -> Markup:
    return element("tr", element("th", name, scope="row"), [element("td", cell) for cell in cells])


def titled(name: str, content: Markup | None) -> Markup | None:
    """Put a table below its title; nothing if there is no table."""
    return None if content is None else element("div", element("h3", name), scrolling(name, content))


def scrolling(name: str, content: Markup) -> Markup:
    """Let a table that is wider than a phone scroll, also by keyboard."""
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=name)


# Nothing is fetched and nothing runs, whatever a message brought with it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, *body: Child, sheets: tuple[str, ...] = ()) -> str:
    """Make a page with our style sheets, and more of them if named, that can be kept as one file."""
    head = (
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="referrer", content="no-referrer"),
        [element("style", Markup(sheet(name))) for name in ("colours.css", "style.css", *sheets)],
    )
    return page(title, head, *body)


def page(title: str, head: Child, *body: Child) -> str:
    """Make a page, with more elements of its head."""
    first = (
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
    )
    whole = element("html", element("head", first, head), element("body", *body), lang="en")
    return "<!doctype html>\n" + whole + "\n"


def sheet(name: str) -> str:
    """Read a style sheet of this folder."""
    return files(__package__).joinpath(name).read_text("utf-8")


Child = str | Iterable["Child"] | None

Attribute = str | float | None

VOID = frozenset(("meta", "br", "input", "link"))


class Markup(str):
    """HTML or SVG, escaped where it has to be."""

    __slots__ = ()


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Make an element: `class_` is class, `text_anchor` is text-anchor; what is None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(attribute_text(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    return Markup("".join(map(markup, children)))


def markup(child: Child) -> str:
    if child is None or isinstance(child, Markup):
        return child or ""
    return escape(visible(child), quote=False) if isinstance(child, str) else joined(*child)


def attribute_text(value: str | float) -> str:
    """Write a coordinate to a tenth: finer than a dot on any screen, and a third of the page smaller."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def visible(text: str) -> str:
    """Replace characters that act unseen: control, bidi, invisible and unassigned ones."""
    return text if text.isprintable() else printable("".join(" " if c.isspace() else c for c in text))


def untrusted(text: str, most: int, *, ending: bool = False) -> Markup:
    """Show text from mail or a file name: its direction cannot leak out, and it is cut to a length."""
    if len(text) > most:
        text = "…" + text[1 - most :] if ending else text[: most - 1] + "…"
    return element("bdi", text)


def label(name: str) -> Markup:
    return untrusted(name, 40)
