"""Settings to be compared: a tokenizer and a view, named as on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spamnb.bayes.view import EVENTS, GLOBAL, View
from spamnb.errors import UsageError
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Candidate:
    """A way to read mail and to judge it."""

    name: str
    settings: dict[str, Any]  # of the tokenizer, as far as they differ from the defaults
    view: View


# The tokenizer's settings and the view's, by the names they have on the command line, and how each is read.
def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError
    return text == "yes"


def _smoothing(text: str) -> float | str:
    return text if text == GLOBAL else _amount(text)


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


def _prior(text: str) -> str:
    if text not in ("counts", "uniform"):
        raise ValueError
    return text


def _event(text: str) -> str:
    if text not in EVENTS:
        raise ValueError
    return text


_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ngrams": ("ngrams", int),
    "stem": ("stem", str),
    "stop-words": ("stop_language", str),
    "headers": ("headers", _yes),
    "case": ("keep_case", _yes),
}
_VIEW: dict[str, tuple[str, Callable[[str], Any]]] = {
    "event": ("event", _event),
    "smoothing": ("smoothing", _smoothing),
    "prior": ("prior", _prior),
    "tfidf": ("tfidf", _yes),
    "numbers": ("numbers", _yes),
    "pairs": ("pairs", _yes),
    "least-evidence": ("least_evidence", _amount),
    "damping": ("damping", _amount),
    "split-head-body": ("split_head_body", _yes),
}
VIEW_NAMES = tuple(_VIEW)
NAMES = (*_SETTINGS, *VIEW_NAMES)


def candidate(text: str) -> Candidate:
    """From `default`, or `NAME=VALUE,NAME=VALUE`: with an event on top of the textbook, else of the default.

    >>> candidate("event=bernoulli,smoothing=0.1,ngrams=2").settings
    {'ngrams': 2}
    """
    settings: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for item in text.split(",") if text != "default" else ():
        name, _, value = item.strip().partition("=")
        try:
            if name in _SETTINGS:
                key, kind = _SETTINGS[name]
                settings[key] = kind(value)
            else:
                key, kind = _VIEW[name]
                given[key] = kind(value)
        except (KeyError, ValueError):
            raise UsageError(
                f"{item.strip()!r} is no setting; NAME=VALUE with a name of {', '.join(NAMES)}"
            ) from None
    Settings(**settings)  # says what is wrong with it, if anything is
    base = View() if "event" in given or given.get("tfidf") else DEFAULT_VIEW
    return Candidate(text, settings, View.from_map({**base.as_map(), **given}))


# What `--compare standard` compares: the textbooks' models, and the default without each of its rules.
STANDARD = (
    *("default", "event=multinomial", "event=binary", "event=bernoulli", "event=bernoulli,smoothing=0.01"),
    *(
        "event=multinomial,ngrams=2",
        "event=multinomial,tfidf=yes",
        "pairs=no",
        "least-evidence=0",
        "damping=0",
    ),
    *("smoothing=1", "headers=no", "case=yes"),
)


def extended(best: Candidate, change: str) -> Candidate:
    """A candidate with a setting changed, named by all that differs from the default."""
    parts = dict(part.partition("=")[::2] for part in best.name.split(",") if part != "default")
    name, _, value = change.partition("=")
    parts[name] = value
    default = {name: str(getattr(DEFAULT_VIEW, key)) for name, (key, _) in _VIEW.items()} | {
        "pairs": "yes",
        "split-head-body": "yes",
    }
    kept = [f"{name}={value}" for name, value in parts.items() if default.get(name) != str(_plain(value))]
    return candidate(",".join(kept) or "default")


def _plain(value: str) -> str:
    try:
        return str(float(value))
    except ValueError:
        return value
