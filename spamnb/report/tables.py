"""HTML tables that scroll by themselves where a screen is narrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spamnb.report.elements import Markup, element


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
