"""The context of a request (history, model, query), and the parts that every review page has."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from urllib.parse import urlencode

from spamnb.history.queries import History
from spamnb.model import Model
from spamnb.pages.elements import Child, Markup, element
from spamnb.pages.parts import SHEETS, intro_text, page, sheet
from spamnb.review.guard import Secrets

VIEWS = {"/": "To review", "/course": "Results", "/cutoff": "How strict"}
STYLE, SCRIPT = "review.css", "review.js"


@dataclass(frozen=True)
class PageContext:
    """What a page is made from: the history, the model and the query of a request."""

    history: History
    secrets: Secrets
    command_line_model: str
    path: str
    query: Mapping[str, str]

    @cached_property
    def model_path(self) -> str:
        """The path given on the command line or, if no file is there, that of the model that judged last."""
        path = self.command_line_model
        latest = [] if os.path.exists(path) else self.history.entries("time", limit=1)
        return latest[0].model if latest else path

    @cached_property
    def model(self) -> Model:
        return Model.open(self.model_path)

    def page(self, title: str, *body: Child) -> str:
        """Make a page: its head, links to the main pages, and `body`."""
        style, script = (f"/files/{name}?{crc32(own_file(name)):x}" for name in (STYLE, SCRIPT))
        head = (element("link", rel="stylesheet", href=style), element("script", type="module", src=script))
        top = element(
            "header",
            element("a", "spamnb", href="/", class_="home"),
            element("nav", [self._link(path, name) for path, name in VIEWS.items()], aria_label="Views"),
            class_="top",
        )
        status = element("p", id="status", role="status", class_="status")
        return page(f"{title} · spamnb", head, top, element("main", *body), status)

    def _link(self, path: str, name: str) -> Markup:
        return element("a", name, href=path, aria_current="page" if path == self.path else None)

    @property
    def filters(self) -> dict[str, str | None]:
        """The order, verdict and search text of the current list of messages, for links back to the list."""
        return {name: self.query.get(name) for name in ("order", "verdict", "text")}

    def form(self, action: str, back: str, *children: Child, class_: str | None = None) -> Markup:
        """Make a form that is posted to the address `action`; then the browser shows the page `back`."""
        fields = hidden("secret", self.secrets.form), hidden("back", back)
        return element("form", fields, *children, method="post", action=action, class_=class_)


def url(path: str, **query: str | None) -> str:
    """Return the address `path` with a query; values that are None or empty are left out."""
    given = {name: value for name, value in query.items() if value}
    return path + ("?" + urlencode(given) if given else "")


def note(words: Child, link: str = "To the list") -> Markup:
    """Make a note for a page that has nothing else to show, with a link to the list of all mail."""
    return element("div", element("p", words), element("p", element("a", link, href="/")), class_="note")


@cache
def own_file(name: str) -> bytes:
    """Return the script, or all style sheets as one: those of all pages, then that of the review page."""
    own = files(__package__).joinpath(name).read_bytes()
    return "".join(map(sheet, SHEETS)).encode() + own if name == STYLE else own


def heading(title: str, intro: Child = None) -> Markup:
    return element("div", element("h1", title), intro_text(intro), class_="title")


def hidden(name: str, value: str) -> Markup:
    """Make a hidden field of a form."""
    return element("input", type="hidden", name=name, value=value)


def choices(name: str, values: Mapping[str, str], chosen: str) -> Markup:
    """Make a drop-down list; `values` maps each value to its text."""
    options = [
        element("option", shown, value=value, selected="" if value == chosen else None)
        for value, shown in values.items()
    ]
    return element("select", options, name=name)


def sentences(lines: Sequence[str]) -> str:
    return " ".join(line[:1].upper() + line[1:] + "." for line in lines)
