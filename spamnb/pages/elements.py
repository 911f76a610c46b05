"""HTML and SVG built element by element, with everything escaped that is not markup.

A forgotten call cannot turn text from mail into markup: `element` escapes plain strings, and leaves only the
results of `element` unchanged.
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
    """Make an HTML or SVG element. `class_` is written class, `text_anchor` text-anchor; None is left out."""
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
    """Replace characters that are not visible, such as control characters and zero-width spaces."""
    return text if text.isprintable() else printable("".join(" " if c.isspace() else c for c in text))


def untrusted(text: str, most: int, *, ending: bool = False) -> Markup:
    """Make an element of text from mail or a file name, shortened; it cannot reverse the text around it."""
    return element("bdi", shortened(text, most, ending=ending))


def shortened(text: str, most: int, *, ending: bool = False) -> str:
    """Shorten a text at its end or, to keep its `ending`, at its beginning."""
    if len(text) <= most:
        return text
    return "…" + text[1 - most :] if ending else text[: most - 1] + "…"
