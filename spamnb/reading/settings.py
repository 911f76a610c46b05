"""Tokenizer settings, chosen when a model is made and never changed; and splitting text into words."""

from spamnb.core.native import MAX_WORDS, spaced_words
from spamnb.errors import UsageError
from spamnb.labels import is_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_NGRAMS = 5
MAX_WORD = 32  # characters; longer words (file names, encoded data, random strings) are shortened
MAX_STEMS = 20_000  # kept in memory; beyond, all are dropped, and common words soon are back


class Settings:
    """The settings with which the mail of a model is split into tokens."""

    __slots__ = (*("grams", "headers", "ngrams", "stem", "stop_language", "stop_words"),)

    def __init__(
        self,
        ngrams: int = 1,
        stem: str | None = None,
        stop_language: str | None = None,
        headers: bool = True,
        stop_words: "Sequence[str]" = (),
        grams: bool = True,
    ) -> None:
        if not 1 <= ngrams <= MAX_NGRAMS:
            raise UsageError(f"ngrams must be from 1 to {MAX_NGRAMS}, not {ngrams}")
        self.ngrams = ngrams
        self.stem = stem
        self.stop_language = stop_language
        self.headers = headers
        # The words themselves, not only the language: a later release of the list changes no model.
        if stop_language and not stop_words:
            from spamnb.reading.languages import stop_words_of

            stop_words = stop_words_of(stop_language)
        self.stop_words = normalized_stop_words(stop_words)
        self.grams = grams  # counts runs of four bytes, too

    @classmethod
    def from_map(cls, stored: "Mapping[str, Any]") -> "Settings":
        """Return the settings that are stored in a model; raise ValueError for invalid ones."""
        if not isinstance(stored["stop_words"], list):
            raise ValueError("the settings of the tokenizer are damaged")
        found = cls(**{name: stored[name] for name in cls.__slots__})
        flags = (found.headers, found.grams)
        names = (found.stem, found.stop_language)
        fits = type(found.ngrams) is int and all(isinstance(flag, bool) for flag in flags)
        if not fits or not all(name is None or is_label(name) for name in names):
            raise ValueError("the settings of the tokenizer are damaged")
        return found

    def as_map(self) -> "dict[str, Any]":
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.as_map() == other.as_map()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.as_map().items())})"

    def words(self) -> "Words":
        """Return an object that splits texts into words by these settings."""
        stem = None
        if self.stem:
            from spamnb.reading.languages import stemmer

            stem = stemmer(self.stem)
        return Words(self.ngrams, frozenset(self.stop_words), stem, dotless=self.stem == "turkish")


def normalized_stop_words(stop_words: "Sequence[str]") -> list[str]:
    """Return stop words as the tokenizer spells them, without those that it splits into several words."""
    words = Words()
    return sorted({found[0] for found in map(words.of, stop_words) if len(found) == 1})


class Words:
    """Splits text into words by the settings of a model: stop words, stemming, n-grams."""

    def __init__(
        self,
        ngrams: int = 1,
        stop_words: frozenset[str] = frozenset(),
        stem: "Callable[[str], str] | None" = None,
        dotless: bool = False,
    ) -> None:
        self.ngrams = ngrams
        self.stop_words = stop_words
        self.stem = stem
        self.dotless = dotless  # ı is another letter than i, and its capital is I; else all four are one
        self.is_simple = not stop_words and stem is None
        self._stems: dict[str, str] = {}

    def of(self, text: str) -> list[str]:
        """Return the words of a text, in order, without n-grams."""
        return [shorten_if_long(word) for word in split(self.spaced(text))][:MAX_WORDS]

    def spaced(self, text: str) -> bytes:
        """Return the words of a text, joined by spaces; long words and quotes around words are kept."""
        return spaced_words(text, self)

    def filtered(self, spaced: bytes) -> bytes:
        """Shorten long words, remove stop words, and replace the other words by their stems."""
        words = [shorten_if_long(word) for word in split(spaced)[:MAX_WORDS]]
        if self.stop_words:
            words = [word for word in words if word.casefold().replace("ı", "i") not in self.stop_words]
        if self.stem:
            words = [self._stemmed(word, self.stem) for word in words]
        return " ".join(words).encode()

    def _stemmed(self, word: str, stem: "Callable[[str], str]") -> str:
        found = self._stems.get(word)
        if found is None:
            if len(self._stems) >= MAX_STEMS:
                self._stems.clear()
            found = self._stems[word] = stem(word)
        return found


def split(spaced: bytes) -> list[str]:
    """Split a text at spaces, and return its words without quotes around them."""
    return [word for word in [chunk.strip("'") for chunk in spaced.decode().split()] if word]


def shorten_if_long(word: str) -> str:
    """Return a word unchanged or, if it is very long, its first letters and its rough length."""
    return word if len(word) <= MAX_WORD else f"{word[:6]}~{len(word).bit_length()}"
