"""Look up all that a model knows of a token, or of a pair of neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from spamnb.arrays import Array, Texts
from spamnb.bayes.classifier import GLOBAL, Classifier, View
from spamnb.inspection.model_summary import day_text, label_leads
from spamnb.model import Model
from spamnb.reading.features import fingerprints_of, pair_fingerprint
from spamnb.tables.vocabulary import Vocabulary, parse_fingerprint

if TYPE_CHECKING:
    from spamnb.store.counts import Row

    WordPair = tuple[str, str]


Value = TypeVar("Value", int, float)

SMOOTHINGS = (0.0, 1.0, GLOBAL)  # beside the model's own: none, Laplace's, global statistics
EVENTS = ("multinomial", "binary", "bernoulli")  # Gaussians are of numbers, not of tokens
TAGS = ("", "subject:", "from:", "to:", "hidden:", "url:", "url:/", "file:", "header:")
NEAR_LISTED = 20  # near spellings, at most


@dataclass(frozen=True)
class TokenProbabilities:
    """P(token | label) by one event model and smoothing."""

    event: str
    smoothing: float | str
    probabilities: dict[str, float]


@dataclass(frozen=True)
class OtherToken:
    """Another token, and the messages that have it."""

    token: str
    messages: dict[str, int]


@dataclass(frozen=True)
class TokenFacts:
    """All that a model knows of a token or of a pair of neighbours."""

    token: str
    known: bool
    messages: dict[str, int]
    occurrences: dict[str, int] | None  # of a pair only messages are counted
    probabilities: dict[str, float] | None  # by the model's own view
    weights: dict[str, float] | None  # by `label_leads`
    counts: bool  # whether the weights are far enough apart to be evidence
    estimates: list[TokenProbabilities]
    first_seen: str | None
    last_seen: str | None
    elsewhere: list[OtherToken]  # the same word in other places of a message
    near: list[OtherToken]  # tokens spelled nearly like it
    is_pair: bool = False  # two words side by side

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


class TokenLookup:
    """Looks tokens up in a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.vocabulary = Vocabulary(model.stored)
        smoothings = dict.fromkeys((model.view.smoothing, *SMOOTHINGS))
        views = [View(event, smoothing) for event in EVENTS for smoothing in smoothings]
        self.classifiers = [Classifier(model.stored, view) for view in views]

    def look_up(self, asked: str) -> TokenFacts:
        """Look up a token, or two neighbours with a space between, as a user writes them."""
        model = self.model
        token = folded(model, asked)
        if token not in (known := self._rows([token, asked])) or asked in known:
            token = asked  # people ask for `Viagra` and `Subject:Free`, too
        fingerprint = parse_fingerprint(asked) if model.stored.keyed else None
        if fingerprint is None:
            fingerprint = model.tokenizer.keyed(fingerprints_of([token]))[0]
        row = model.stored.rows([fingerprint]).get(fingerprint)
        if row is None and (pair := self._pair_facts(asked)):
            return pair
        near = self._near_spellings(token)
        if row is None:
            nothing = dict.fromkeys(model.labels, 0)
            return TokenFacts(token, False, nothing, nothing, None, None, False, [], None, None, [], near)
        label_count = len(model.labels)
        elsewhere = [tag + token.rpartition(":")[2].lstrip("/") for tag in TAGS]
        return TokenFacts(
            token,
            True,
            self._named(row[:label_count]),
            self._named(row[label_count:]),
            self._named(model.classifier.probabilities(row)),
            self._named(label_leads(model.classifier, row)),
            model.classifier.is_evidence(row),
            [self._estimate(classifier, row) for classifier in self.classifiers],
            *self._days_seen(self.vocabulary.place(fingerprint)),
            self._others([other for other in elsewhere if other != token]),
            near,
        )

    def _pair_facts(self, asked: str) -> TokenFacts | None:
        """Look up two neighbours, written as evidence writes them; None if they are not known as such."""
        model, classifier = self.model, self.model.classifier
        rows = self._pair_rows(pair_spellings(model, asked))
        if not rows:
            return None
        pair, row = next(iter(rows.items()))
        untagged = [word.rpartition(":")[2].lstrip("/") for word in pair]
        tagged = [(tag + untagged[0], tag + untagged[1]) for tag in TAGS]
        elsewhere = self._pair_rows([other for other in tagged if other != pair])
        return TokenFacts(
            " ".join(pair),
            True,
            self._named(row),
            None,
            self._named(classifier.probabilities(row)) if model.view.pairs else None,
            self._named(label_leads(classifier, row)) if model.view.pairs else None,
            model.view.pairs and classifier.is_evidence(row),
            [],
            None,
            None,
            [OtherToken(" ".join(other), self._named(counts)) for other, counts in elsewhere.items()],
            [],
            is_pair=True,
        )

    def _rows(self, tokens: Sequence[str]) -> dict[str, Row]:
        """The counts of the tokens that are known."""
        fingerprints = self.model.tokenizer.keyed(fingerprints_of(tokens))
        rows = self.model.stored.rows(fingerprints)
        found = zip(tokens, fingerprints, strict=True)
        return {token: rows[fingerprint] for token, fingerprint in found if fingerprint in rows}

    def _pair_rows(self, pairs: Iterable[WordPair]) -> dict[WordPair, Row]:
        """The counts of the pairs of neighbours that are known."""
        wanted = list(pairs)
        of_pairs = self.model.tokenizer.keyed([pair_fingerprint(*pair) for pair in wanted])
        fingerprints = dict(zip(wanted, of_pairs, strict=True))
        rows = self.model.stored.pair_rows(list(fingerprints.values()))
        return {pair: rows[fingerprint] for pair, fingerprint in fingerprints.items() if fingerprint in rows}

    def _named(self, values: Sequence[Value]) -> dict[str, Value]:
        return dict(zip(self.model.labels, values, strict=True))

    def _estimate(self, classifier: Classifier, row: Row) -> TokenProbabilities:
        view = classifier.view
        return TokenProbabilities(view.event, view.smoothing, self._named(classifier.probabilities(row)))

    def _others(self, tokens: list[str]) -> list[OtherToken]:
        size = len(self.model.labels)
        return [OtherToken(token, self._named(row[:size])) for token, row in self._rows(tokens).items()]

    def _near_spellings(self, token: str) -> list[OtherToken]:
        """Tokens spelled nearly like one, by the number of changed letters, then by messages."""
        found = spellings(self.vocabulary, token)
        texts = self.vocabulary.tokens([spelling.token_index for spelling in found])
        changes = dict(zip(texts, [spelling.changes for spelling in found], strict=True))
        others = self._others([text for text in texts if text != token])
        others.sort(key=lambda other: (changes[other.token], -sum(other.messages.values())))
        return others[:NEAR_LISTED]

    def _days_seen(self, index: int) -> tuple[str, str]:
        first, last = self.vocabulary.days(index)
        return day_text(first), day_text(last)


def pair_spellings(model: Model, asked: str) -> Iterator[WordPair]:
    """Two words as they are written, and as the tokenizer writes them; nothing where they are not two."""
    match asked.split():
        case [first, second]:
            yield first, second
            yield folded(model, first), folded(model, second)


def folded(model: Model, token: str) -> str:
    """A token with its tag and its word as the tokenizer writes them."""
    tag, colon, word = token.rpartition(":")
    return tag.lower() + colon + " ".join(model.tokenizer.words.of(word))


SHORT = 4  # letters of a word to which only spellings with one change are near
MOST_LETTERS = 80  # bytes of a word that are compared


class Spelling(NamedTuple):
    """A token that is spelled nearly like a word."""

    changes: int  # letters changed, left out or put in; 0 is the word itself
    token_index: int  # in the vocabulary


def spellings(vocabulary: Vocabulary, word: str) -> list[Spelling]:
    """Tokens at most two changes away, one where the word is short. Letters are bytes of UTF-8."""
    letters = word.encode("utf-8", "replace")[:MOST_LETTERS]
    most = 1 if len(word.rpartition(":")[2]) <= SHORT else 2
    found = [
        Spelling(changes, index)
        for start, texts in vocabulary.texts()
        for changes, index in near_words(letters, most, start, texts)
    ]
    return sorted(found)


def near_words(letters: bytes, most: int, start: int, texts: Texts) -> Iterator[tuple[int, int]]:
    """Changes and indices of near words in a block, length by length: words of one length are a matrix."""
    lengths = texts.lengths
    for length in range(max(1, len(letters) - most), len(letters) + most + 1):
        same_length = np.flatnonzero(lengths == length)
        if len(same_length):
            words = texts.data[(texts.ends[same_length] - length)[:, None] + np.arange(length)]
            changes = distances(letters, np.ascontiguousarray(words.T), most)
            for at in np.flatnonzero(changes <= most).tolist():
                yield int(changes[at]), start + int(same_length[at])


def distances(letters: bytes, words: Array, most: int) -> Array:
    """Levenshtein's distances of a word to others [letter, word]; `most` + 1 for all larger than `most`.

    Levenshtein's table for all words at once, row by row, and of each row only what is near the diagonal.
    """
    length, word_count = words.shape
    too_far = np.full(word_count, most + 1, np.uint8)
    above = [np.full(word_count, min(j, most + 1), np.uint8) for j in range(length + 1)]
    for i, letter in enumerate(letters, 1):
        row = [too_far] * (length + 1)
        row[0] = np.full(word_count, min(i, most + 1), np.uint8)
        for j in range(max(1, i - most), min(length, i + most) + 1):
            changed = above[j - 1] + (words[j - 1] != letter)
            row[j] = np.minimum(np.minimum(changed, above[j] + 1), row[j - 1] + 1)
        above = row
    return above[length]
