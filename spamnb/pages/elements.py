"""HTML and SVG built element by element: what is not markup already is escaped.

Text from mail cannot become markup by forgetting a call: a plain string given to `element` is text, and only
what `element` itself returned goes through unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from spamnb.files import printable

Child = str | Iterable["Child"] | None
VOID = frozenset(("meta", "br", "input", "link"))


class Markup(str):
    """HTML or SVG, escaped where it has to be."""

    __slots__ = ()


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
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
    return element("bdi", shortened(text, most, ending=ending))


def shortened(text: str, most: int, *, ending: bool = False) -> str:
    """Cut a text to a length: its end is left out, or its beginning."""
    if len(text) <= most:
        return text
    return "…" + text[1 - most :] if ending else text[: most - 1] + "…"
