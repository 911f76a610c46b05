"""HTML and SVG built element by element, with everything escaped that is not markup.

Text from mail cannot become markup by a forgotten call: `element` escapes every plain string, and leaves only
`Markup` unchanged, such as its own results.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from spamnb.files import printable

Child = str | Iterable["Child"] | None
VOID = frozenset(("meta", "br", "input", "link"))


class Markup(str):
    """HTML or SVG that is already escaped."""

    __slots__ = ()


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Make an HTML or SVG element. `class_` becomes class, `text_anchor` text-anchor; None is omitted."""
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
    """Return an attribute's value as text; numbers get one decimal, which makes a page a third smaller."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def visible(text: str) -> str:
    """Replace invisible characters: white space by spaces, control characters and the like by U+FFFD."""
    return text if text.isprintable() else printable("".join(" " if c.isspace() else c for c in text))


def untrusted(text: str, most: int, *, ending: bool = False) -> Markup:
    """Put shortened text from mail or a file name into <bdi>, so that it cannot reverse text around it."""
    return element("bdi", shortened(text, most, ending=ending))


def shortened(text: str, most: int, *, ending: bool = False) -> str:
    """Shorten a text to `most` characters: cut its end or, if the `ending` must stay, its beginning."""
    if len(text) <= most:
        return text
    return "…" + text[1 - most :] if ending else text[: most - 1] + "…"
