"""Several settings held against each other on the same folds, and the search for the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import SPAM
from spamnb.bayes.view import EVENTS, GLOBAL, View
from spamnb.errors import UsageError
from spamnb.evaluation.folds import cross_validated, fold_of
from spamnb.evaluation.intervals import compare_auc, compare_verdicts
from spamnb.evaluation.metrics import measure
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.folds import Judged

CHANCE = 0.05  # a difference likelier than this by chance alone is none


@dataclass(frozen=True)
class Candidate:
    """A way to read mail and to judge it."""

    name: str
    settings: dict[str, Any]  # of the tokenizer, as far as they differ from the defaults
    view: View


@dataclass(frozen=True)
class Compared:
    """A candidate's figures, and how it did against the first, message by message."""

    candidate: Candidate
    metrics: dict[str, Any]
    won: int  # messages judged right here and not by the first
    tied: int
    lost: int
    verdicts_p: float | None  # how likely such a difference in verdicts is by chance
    ranking_p: float | None  # and such a one in ranking, by (1-AUC)

    def as_map(self) -> dict[str, Any]:
        against = {"won": self.won, "tied": self.tied, "lost": self.lost}
        chances = {"verdicts_p": self.verdicts_p, "ranking_p": self.ranking_p}
        return {"name": self.candidate.name, **self.metrics, "against_first": {**against, **chances}}


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
    "silent": ("silent", _amount),
    "apart": ("apart", _yes),
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
        "silent=0",
    ),
    *("smoothing=1", "headers=no", "case=yes"),
)


def compared(
    candidates: Sequence[Candidate],
    read: Callable[[Settings], Corpus],
    folds: int,
    seed: int,
    together: bool,
    jobs: int,
) -> Iterator[Compared]:
    """Each on the same folds, the first first; mail is read again only for another tokenizer."""
    theirs = candidates[0].settings
    first: Judged | None = None
    corpora: list[tuple[Settings, Corpus]] = []
    for one in sorted(
        candidates, key=lambda one: (one.settings != theirs, repr(sorted(one.settings.items())))
    ):
        settings = Settings(**one.settings)
        if not corpora or corpora[0][0] != settings:
            corpora[:] = [(settings, read(settings))]
        corpus = corpora[0][1]
        judged = cross_validated(corpus, fold_of(corpus, folds, seed, together), one.view, jobs)
        first = first or judged
        yield against(first, judged, one)


def against(first: Judged, judged: Judged, one: Candidate) -> Compared:
    labels = judged.labels
    figures = measure(
        labels, judged.truth, judged.verdict, judged.score, judged.probability, resamples=0
    ).as_map()
    figures.pop("intervals", None)
    verdicts = compare_verdicts(judged.truth, judged.verdict, first.verdict)
    ranking = None
    if SPAM in labels:
        ranking = compare_auc(judged.truth == labels.index(SPAM), judged.score, first.score)
    return Compared(
        one,
        figures,
        verdicts.won,
        verdicts.tied,
        verdicts.lost,
        verdicts.p if judged is not first else None,
        ranking.p if ranking and judged is not first else None,
    )


def steps_from(best: Candidate) -> list[Candidate]:
    """What a search tries next: the best so far with one setting changed."""
    changes = [
        *(f"smoothing={value}" for value in (0.001, 0.003, 0.01, 0.03, 0.1)),
        *(f"least-evidence={value}" for value in (1.5, 2.0, 2.5, 3.0, 3.5)),
        *(f"silent={value}" for value in (1, 2, 4, 8, 16)),
        *("pairs=yes", "pairs=no"),
    ]
    return [extended(best, change) for change in changes]


def extended(best: Candidate, change: str) -> Candidate:
    """A candidate with a setting changed, named by all that differs from the default."""
    parts = dict(part.partition("=")[::2] for part in best.name.split(",") if part != "default")
    name, _, value = change.partition("=")
    parts[name] = value
    default = {name: str(getattr(DEFAULT_VIEW, key)) for name, (key, _) in _VIEW.items()} | {
        "pairs": "yes",
        "apart": "yes",
    }
    kept = [f"{name}={value}" for name, value in parts.items() if default.get(name) != str(_plain(value))]
    return candidate(",".join(kept) or "default")


def _plain(value: str) -> str:
    try:
        return str(float(value))
    except ValueError:
        return value


def better(one: Compared, best: Compared) -> bool:
    """By ranking; in a tie by what is mistaken."""
    ours, theirs = (each.metrics["one_minus_auc_percent"] for each in (one, best))
    if ours is None or theirs is None:
        return bool(one.metrics["accuracy"] > best.metrics["accuracy"])
    return bool((ours, -one.metrics["accuracy"]) < (theirs, -best.metrics["accuracy"]))
