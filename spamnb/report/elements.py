"""HTML and SVG built element by element: whatever is not markup already is escaped.

Text from mail cannot become markup by forgetting a call: a plain string given to `element` is text, and only
what `element` itself returned goes through unchanged.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Child = str | Iterable["Child"] | None
    Attribute = str | float | None

VOID = frozenset(("meta", "br"))


class Markup(str):
    """What a browser may obey."""

    __slots__ = ()


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """`class_` is class, `text_anchor` is text-anchor; what is None is left out."""
    own = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(written(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{own}>")
    return Markup(f"<{name}{own}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    return Markup("".join(map(markup, children)))


def markup(child: Child) -> str:
    if child is None or isinstance(child, Markup):
        return child or ""
    return escape(visible(child), quote=False) if isinstance(child, str) else joined(*child)


def written(value: str | float) -> str:
    """Coordinates to a tenth: finer than a dot on any screen, and a third of the page smaller."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def visible(text: str) -> str:
    """Text with nothing in it that acts unseen: control, bidi, invisible and unassigned characters."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def foreign(text: str, most: int, *, ending: bool = False) -> Markup:
    """Text from mail or a file name: its direction cannot leak out, and it has its length."""
    if len(text) > most:
        text = "…" + text[1 - most :] if ending else text[: most - 1] + "…"
    return element("bdi", text)


def label(name: str) -> Markup:
    return foreign(name, 40)
