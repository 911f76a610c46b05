"""Settings to be compared: a tokenizer and a view, named as on the command line."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from spamnb.bayes.view import EVENTS, GLOBAL, View
from spamnb.errors import UsageError
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings


@dataclass(frozen=True)
class Candidate:
    """A way to read mail and to judge it, to be compared with others."""

    name: str
    settings: dict[str, Any]  # those of the tokenizer that differ from the defaults
    view: View


_yes_or_no = {"yes": True, "no": False}.__getitem__
_event = {event: event for event in EVENTS}.__getitem__
_prior = {prior: prior for prior in ("counts", "uniform")}.__getitem__


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


def read_smoothing(text: str) -> float | str:
    """Read `global` or a number of 0 or more."""
    return text if text == GLOBAL else _amount(text)


# Settings by their names on the command line: the name of the field, and the function that reads its value.
_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ngrams": ("ngrams", int),
    "stem": ("stem", str),
    "stop-words": ("stop_language", str),
    "headers": ("headers", _yes_or_no),
    "case": ("keep_case", _yes_or_no),
    "event": ("event", _event),
    "smoothing": ("smoothing", read_smoothing),
    "prior": ("prior", _prior),
    "tfidf": ("tfidf", _yes_or_no),
    "numbers": ("numbers", _yes_or_no),
    "pairs": ("pairs", _yes_or_no),
    "grams": ("grams", _yes_or_no),
    "least-evidence": ("least_evidence", _amount),
    "damping": ("damping", _amount),
    "split-head-body": ("split_head_body", _yes_or_no),
}
SETTING_NAMES = tuple(_SETTINGS)
VIEW_NAMES = SETTING_NAMES[SETTING_NAMES.index("event") :]  # those before are the tokenizer's


def parse_candidate(text: str, allowed: Collection[str] = SETTING_NAMES) -> Candidate:
    """Parse `default` or `NAME=VALUE,NAME=VALUE`; what is not named is as in the default view.

    Only `allowed` names are known. With an event or tf-idf, what is not named is as in the textbooks' view.

    >>> parse_candidate("event=bernoulli,smoothing=0.1,ngrams=2").settings
    {'ngrams': 2}
    """
    settings: dict[str, Any] = {}
    view_settings: dict[str, Any] = {}
    for item in text.split(",") if text != "default" else ():
        name, _, value = item.strip().partition("=")
        try:
            if name not in allowed:
                raise KeyError
            field, parse = _SETTINGS[name]
            (view_settings if name in VIEW_NAMES else settings)[field] = parse(value)
        except (KeyError, ValueError):
            raise UsageError(
                f"unknown setting {item.strip()!r}; use NAME=VALUE with one of {', '.join(allowed)}"
            ) from None
    Settings(**settings)  # raises an error if a value is wrong
    base = View() if "event" in view_settings or view_settings.get("tfidf") else DEFAULT_VIEW
    return Candidate(text, settings, View.from_map({**base.as_map(), **view_settings}))


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


def with_change(candidate: Candidate, change: str) -> Candidate:
    """Change a setting, as `NAME=VALUE`; the new candidate is named by all that differs from the default."""
    settings = dict(part.partition("=")[::2] for part in candidate.name.split(",") if part != "default")
    name, _, value = change.partition("=")
    settings[name] = value
    default = {name: str(getattr(DEFAULT_VIEW, _SETTINGS[name][0])) for name in VIEW_NAMES}
    default |= {"pairs": "yes", "grams": "yes", "split-head-body": "yes"}
    changed = [
        f"{name}={value}" for name, value in settings.items() if default.get(name) != str(_as_number(value))
    ]
    return parse_candidate(",".join(changed) or "default")


def _as_number(value: str) -> str:
    try:
        return str(float(value))
    except ValueError:
        return value
