"""All that a model knows of a single token, or of a pair of neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.verdict import spread
from spamnb.bayes.view import GLOBAL, View
from spamnb.inspection.knowledge import ahead, date
from spamnb.inspection.spellings import spellings
from spamnb.tables.vocabulary import Vocabulary, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spamnb.model import Model
    from spamnb.store.counts import Row

    Words = tuple[str, str]

Value = TypeVar("Value", int, float)

SMOOTHINGS = (0.0, 1.0, GLOBAL)  # beside the model's own: none, Laplace's, global statistics
EVENTS = ("multinomial", "binary", "bernoulli")  # Gaussians are of numbers, not of tokens
TAGS = ("", "subject:", "from:", "to:", "hidden:", "url:", "url:/", "file:", "header:")
NEAR = 20  # spellings that are told


@dataclass(frozen=True)
class Estimate:
    """P(token | label) by one event model and smoothing."""

    event: str
    smoothing: float | str
    probabilities: dict[str, float]


@dataclass(frozen=True)
class Other:
    """Another token, and the messages that have it."""

    token: str
    messages: dict[str, int]


@dataclass(frozen=True)
class Known:
    token: str
    known: bool
    messages: dict[str, int]
    occurrences: dict[str, int] | None  # of a pair only messages are counted
    probabilities: dict[str, float] | None  # by the model's own view
    weights: dict[str, float] | None  # how far each label is ahead of the best other one, in nats
    counts: bool  # whether that is enough to be evidence
    estimates: list[Estimate]
    first_seen: str | None
    last_seen: str | None
    elsewhere: list[Other]  # the same word in other places of a message
    near: list[Other]  # spelled nearly so
    is_pair: bool = False  # two words side by side

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


class Lookup:
    """Looks tokens up in a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.vocabulary = Vocabulary(model.stored)
        smoothings = dict.fromkeys((model.view.smoothing, *SMOOTHINGS))
        views = [View(event, smoothing) for event in EVENTS for smoothing in smoothings]
        self.classifiers = [Classifier(model.stored, view) for view in views]

    def known(self, asked: str) -> Known:
        model = self.model
        token = folded(model, asked)
        if token not in (known := self._rows([token, asked])) or asked in known:
            token = asked  # people ask for `Viagra` and `Subject:Free`, too
        number = number_of(asked) if model.stored.keyed else None
        if number is None:
            number = model.tokenizer.fingerprints.tokens([token])[0]
        row = model.stored.rows([number]).get(number)
        if row is None and (pair := self._known_pair(asked)):
            return pair
        near = self._near(token)
        if row is None:
            nothing = dict.fromkeys(model.labels, 0)
            return Known(token, False, nothing, nothing, None, None, False, [], None, None, [], near)
        many, classifier = len(model.labels), model.classifier
        weights = classifier.weights(row)
        elsewhere = [tag + token.rpartition(":")[2].lstrip("/") for tag in TAGS]
        return Known(
            token,
            True,
            self._named(row[:many]),
            self._named(row[many:]),
            self._named(classifier.probabilities(row)),
            self._named(ahead(weights)),
            spread(weights) >= model.view.least_evidence,
            [self._estimate(one, row) for one in self.classifiers],
            *self._seen(self.vocabulary.place(number)),
            self._others([other for other in elsewhere if other != token]),
            near,
        )

    def _known_pair(self, asked: str) -> Known | None:
        """Look up two neighbours, written as evidence writes them; None if they are not known as such."""
        model, classifier = self.model, self.model.classifier
        rows = self._pair_rows(spellings_of_pair(model, asked))
        if not rows:
            return None
        pair, row = next(iter(rows.items()))
        weights = classifier.weights(row) if model.view.pairs else None
        bare = [word.rpartition(":")[2].lstrip("/") for word in pair]
        tagged = [(tag + bare[0], tag + bare[1]) for tag in TAGS]
        elsewhere = self._pair_rows([other for other in tagged if other != pair])
        return Known(
            " ".join(pair),
            True,
            self._named(row),
            None,
            self._named(classifier.probabilities(row)) if weights else None,
            self._named(ahead(weights)) if weights else None,
            weights is not None and spread(weights) >= model.view.least_evidence,
            [],
            None,
            None,
            [Other(" ".join(other), self._named(counts)) for other, counts in elsewhere.items()],
            [],
            is_pair=True,
        )

    def _rows(self, tokens: Sequence[str]) -> dict[str, Row]:
        """The counts of those tokens that are known."""
        numbers = self.model.tokenizer.fingerprints.tokens(tokens)
        rows = self.model.stored.rows(numbers)
        return {token: rows[number] for token, number in zip(tokens, numbers, strict=True) if number in rows}

    def _pair_rows(self, pairs: Iterable[Words]) -> dict[Words, Row]:
        """The counts of those pairs of neighbours that are known."""
        numbers = {pair: self.model.tokenizer.fingerprints.pair(*pair) for pair in pairs}
        rows = self.model.stored.pair_rows(list(numbers.values()))
        return {pair: rows[number] for pair, number in numbers.items() if number in rows}

    def _named(self, values: Sequence[Value]) -> dict[str, Value]:
        return dict(zip(self.model.labels, values, strict=True))

    def _estimate(self, classifier: Classifier, row: Row) -> Estimate:
        view = classifier.view
        return Estimate(view.event, view.smoothing, self._named(classifier.probabilities(row)))

    def _others(self, tokens: list[str]) -> list[Other]:
        many = len(self.model.labels)
        return [Other(token, self._named(row[:many])) for token, row in self._rows(tokens).items()]

    def _near(self, token: str) -> list[Other]:
        """By changes, then by messages."""
        found = spellings(self.vocabulary, token)
        changes = [one.changes for one in found]
        texts = self.vocabulary.tokens([one.place for one in found])
        far = dict(zip(texts, changes, strict=True))
        others = self._others([text for text in texts if text != token])
        return sorted(others, key=lambda one: (far[one.token], -sum(one.messages.values())))[:NEAR]

    def _seen(self, place: int) -> tuple[str | None, str | None]:
        first, last = self.vocabulary.days(place)
        return date(first), date(last)


def spellings_of_pair(model: Model, asked: str) -> Iterator[Words]:
    """Two words as they are written, and as the tokenizer would write them; nothing of one or of many."""
    match asked.split():
        case [first, second]:
            yield first, second
            yield folded(model, first), folded(model, second)


def folded(model: Model, token: str) -> str:
    """A token with its tag and its word as the tokenizer writes them."""
    tag, colon, word = token.rpartition(":")
    return tag.lower() + colon + " ".join(model.tokenizer.words.of(word))
