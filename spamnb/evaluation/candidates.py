"""Settings, named as on the command line: how mail is read (tokenizer settings) and judged (view)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from spamnb.bayes.view import EVENTS, GLOBAL, View
from spamnb.errors import UsageError
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings

ParsedSettings = tuple[dict[str, Any], View | None]  # tokenizer settings; the view, None if not named


@dataclass(frozen=True)
class Candidate:
    """One choice of settings, to compare with others."""

    name: str
    settings: dict[str, Any]  # of the tokenizer, where they differ from the defaults
    view: View


_yes_or_no = {"yes": True, "no": False}.__getitem__
_event = {event: event for event in EVENTS}.__getitem__


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


def _smoothing(text: str) -> float | str:
    return text if text == GLOBAL else _amount(text)


def _prior(text: str) -> str | dict[str, float]:
    """Parse `counts`, `uniform`, or probabilities such as `ham:0.7/spam:0.2`; other labels share the rest."""
    if text in ("counts", "uniform"):
        return text
    shares = {name: float(share) for name, _, share in (item.rpartition(":") for item in text.split("/"))}
    if min(shares.values()) < 0 or not 0 < sum(shares.values()) < inf:
        raise ValueError
    if sum(shares.values()) > 1 + 1e-9:
        raise UsageError(f"prior: the probabilities in {text!r} add up to more than 1")
    return shares


# For each name on the command line: the field that it sets, and the function that parses the value.
_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ngrams": ("ngrams", int),
    "stem": ("stem", str),
    "stop-words": ("stop_language", str),
    "headers": ("headers", _yes_or_no),
    "event": ("event", _event),
    "smoothing": ("smoothing", _smoothing),
    "prior": ("prior", _prior),
    "tfidf": ("tfidf", _yes_or_no),
    "numbers": ("numbers", _yes_or_no),
    "word-pairs": ("pairs", _yes_or_no),
    "byte-runs": ("grams", _yes_or_no),
    "least-evidence": ("least_evidence", _amount),
    "damping": ("damping", _amount),
    "split-head-body": ("split_head_body", _yes_or_no),
}
SETTING_NAMES = tuple(_SETTINGS)
SWITCHES = frozenset(name for name, (_, parse) in _SETTINGS.items() if parse is _yes_or_no)
VIEW_NAMES = SETTING_NAMES[SETTING_NAMES.index("event") :]  # those before are the tokenizer's


def parse_settings(text: str, allowed: Collection[str] = SETTING_NAMES) -> ParsedSettings:
    """Parse `default` or `NAME=VALUE,NAME=VALUE`; each NAME must be in `allowed`.

    Settings that are not named get their defaults or, if an event or tf-idf is named, the values of `View()`.

    >>> parse_settings("ngrams=2,headers=no")
    ({'ngrams': 2, 'headers': False}, None)
    """
    settings: dict[str, Any] = {}
    view: dict[str, Any] = {}
    for item in text.split(",") if text != "default" else ():
        name, _, value = item.strip().partition("=")
        if name not in allowed:
            raise UsageError(f"unknown setting {name!r}; use NAME=VALUE with one of {', '.join(allowed)}")
        field, parse = _SETTINGS[name]
        try:
            (view if name in VIEW_NAMES else settings)[field] = parse(value)
        except (KeyError, ValueError):
            one_of = EVENTS if name == "event" else ("yes", "no") if name in SWITCHES else ()
            wanted = f"; it must be one of: {', '.join(one_of)}" if one_of else ""
            raise UsageError(f"{name} cannot be {value!r}{wanted}") from None
    Settings(**settings)  # raises an error if a value is wrong
    is_textbook = "event" in view or view.get("tfidf", False)
    if "prior" in view and not is_textbook:
        raise UsageError("prior needs an event, such as event=multinomial; the default has no prior")
    base = View() if is_textbook else DEFAULT_VIEW
    return settings, View.from_map({**base.as_map(), **view}) if view or text == "default" else None


def settings_text(settings: Mapping[str, Any], view: Mapping[str, Any]) -> str:
    """Return the settings of a model as on the command line, such as `ngrams=2, headers=yes`."""
    texts = []
    for name, (field, _) in _SETTINGS.items():
        value = (view if name in VIEW_NAMES else settings)[field]
        if value is not None and not (name == "prior" and view["damping"] is not None):  # no prior with means
            texts.append(f"{name}={('no', 'yes')[value] if name in SWITCHES else value}")
    return ", ".join(texts)


def parse_candidate(text: str) -> Candidate:
    """Parse settings to compare with others; `text` becomes the candidate's name, too."""
    settings, view = parse_settings(text)
    return Candidate(text, settings, view or DEFAULT_VIEW)


# What `--settings standard` compares: the textbooks' models, and the default without each of its rules.
STANDARD = (
    *("default", "event=multinomial", "event=binary", "event=bernoulli", "event=bernoulli,smoothing=0.01"),
    *("event=multinomial,ngrams=2", "event=multinomial,tfidf=yes", "word-pairs=no", "least-evidence=0"),
    *("damping=0", "smoothing=1", "headers=no"),
)


def with_change(candidate: Candidate, change: str) -> Candidate:
    """Return a copy with one setting changed (`NAME=VALUE`); its name leaves out defaults of the view."""
    items = [*([] if candidate.name == "default" else candidate.name.split(",")), change]
    changed = dict(item.split("=") for item in items)
    named = [f"{name}={value}" for name, value in changed.items() if not _is_default(name, value)]
    return parse_candidate(",".join(named) or "default")


def _is_default(name: str, value: str) -> bool:
    field, parse = _SETTINGS[name]
    return name in VIEW_NAMES and parse(value) == getattr(DEFAULT_VIEW, field)
