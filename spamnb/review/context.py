"""One request: the history it is about, the model, and the frame of every page."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from urllib.parse import urlencode

from spamnb.history.queries import History
from spamnb.history.schema import Entry
from spamnb.imap.places import Place, places
from spamnb.model import Model
from spamnb.pages.elements import Child, Markup, element, shortened
from spamnb.pages.parts import SHEETS, intro_text, page, sheet
from spamnb.review.guard import Secrets

VIEWS = {"/": "To review", "/course": "How it goes", "/words": "Words", "/cutoff": "Cutoff"}
STYLE, SCRIPT = "review.css", "review.js"
MODEL_NAME = 60  # characters shown of a model's path


@dataclass(frozen=True)
class PageContext:
    """What a view needs to know."""

    history: History
    secrets: Secrets
    command_line_model: str
    path: str
    query: Mapping[str, str]

    @cached_property
    def models(self) -> list[str]:
        """The models to choose from, the default first: the command line's, if there, and the history's."""
        used = self.history.models()
        own = [self.command_line_model] if os.path.exists(self.command_line_model) or not used else []
        return list(dict.fromkeys([*own, *used]))

    @cached_property
    def model_path(self) -> str:
        """The model asked for; no other file is opened."""
        asked = self.query.get("model", "")
        return asked if asked in self.models else self.models[0]

    @cached_property
    def model(self) -> Model:
        return Model.open(self.model_path)

    def url(self, path: str, **query: str | None) -> str:
        """Make an address of this page, about the same model."""
        about = {} if self.model_path == self.models[0] else {"model": self.model_path}
        given = {name: value for name, value in query.items() if value}
        return path + ("?" + urlencode(about | given) if about or given else "")

    def page(self, title: str, *body: Child) -> str:
        """Make a page: its head, the way to the other views, and its own sections."""
        style, script = (f"/files/{name}?{crc32(own_file(name)):x}" for name in (STYLE, SCRIPT))
        head = (element("link", rel="stylesheet", href=style), element("script", type="module", src=script))
        top = element(
            "header",
            element("a", "spamnb", href=self.url("/"), class_="home"),
            element("nav", [self._link(path, name) for path, name in VIEWS.items()], aria_label="Views"),
            self._model_choice(),
            class_="top",
        )
        status = element("p", id="status", role="status", class_="status")
        return page(f"{title} · spamnb", head, top, element("main", *body), status)

    def _link(self, path: str, name: str) -> Markup:
        return element("a", name, href=self.url(path), aria_current="page" if path == self.path else None)

    def _model_choice(self) -> Markup | None:
        if len(self.models) < 2:
            return None
        names = {path: shown_path(path) for path in self.models}
        return element(
            "form",
            element("label", "Model ", choices("model", names, self.model_path)),
            element("button", "show", class_="show"),
            action=self.path if self.path in VIEWS else "/",
            class_="model",
        )

    @property
    def filters(self) -> dict[str, str | None]:
        """What the list of messages was asked for, to come back to it."""
        return {name: self.query.get(name) for name in ("order", "verdict", "source", "text")}

    def places(self, entries: Iterable[Entry]) -> dict[int, Place]:
        """Tell where messages are, as far as that is known."""
        return places(entries, self.history.message)

    def form(self, action: str, back: str, *children: Child, class_: str | None = None) -> Markup:
        """Make a form that changes something, then leads back to a page."""
        fields = hidden("secret", self.secrets.form), hidden("back", back)
        return element("form", fields, *children, method="post", action=action, class_=class_)

    def note(self, words: Child) -> Markup:
        """Say in a sentence that there is nothing, with a way on."""
        link = element("a", "Show all mail", href=self.url("/"))
        return element("div", element("p", words), element("p", link), class_="note")

    def model_field(self) -> Markup | None:
        """Make the field that keeps a form about the model that was chosen."""
        return None if self.model_path == self.models[0] else hidden("model", self.model_path)


@cache
def own_file(name: str) -> bytes:
    """Read the script, or all style sheets together."""
    own = files(__package__).joinpath(name).read_bytes()
    return "".join(map(sheet, SHEETS)).encode() + own if name == STYLE else own


def shown_path(path: str) -> str:
    """Write the path of a model as short as it is understood."""
    home = os.path.expanduser("~") + os.sep
    return shortened(
        "~/" + path.removeprefix(home) if path.startswith(home) else path, MODEL_NAME, ending=True
    )


def heading(title: str, intro: Child = None) -> Markup:
    return element("div", element("h1", title), intro_text(intro), class_="title")


def hidden(name: str, value: str) -> Markup:
    """Make a field of a form that nobody sees."""
    return element("input", type="hidden", name=name, value=value)


def choices(name: str, values: Mapping[str, str], chosen: str) -> Markup:
    """Make a list to choose one of: value and what is shown."""
    options = [
        element("option", shown, value=value, selected="" if value == chosen else None)
        for value, shown in values.items()
    ]
    return element("select", options, name=name)


def is_number(text: str) -> bool:
    """Whether a text can be the number of an entry."""
    return text.isascii() and text.isdecimal() and len(text) < 18


def sentences(lines: Sequence[str]) -> str:
    return " ".join(line[:1].upper() + line[1:] + "." for line in lines)
