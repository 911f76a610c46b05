"""Tokenizer settings: chosen when a model is made, stored in it, and never changed."""

from spamnb.errors import UsageError
from spamnb.labels import is_label
from spamnb.reading.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MOST_NGRAMS = 5


class Settings:
    """The choices by which a model's mail is tokenized."""

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
        if not 1 <= ngrams <= MOST_NGRAMS:
            raise UsageError(f"ngrams takes 1 to {MOST_NGRAMS} words, not {ngrams}")
        self.ngrams = ngrams
        self.stem = stem
        self.stop_language = stop_language
        self.headers = headers
        # The words themselves, not only the language: a later release of the list changes no model.
        if stop_language and not stop_words:
            from spamnb.reading.languages import stop_words_of

            stop_words = stop_words_of(stop_language)
        self.stop_words = folded_stop_words(stop_words)
        self.grams = grams  # counts runs of four bytes, too

    @classmethod
    def from_map(cls, stored: "Mapping[str, Any]") -> "Settings":
        """Make the settings that a model names; ValueError if they are none."""
        if not isinstance(stored["stop_words"], list):
            raise ValueError("not settings")
        found = cls(**{name: stored[name] for name in cls.__slots__})
        flags = (found.headers, found.grams)
        names = (found.stem, found.stop_language)
        fits = type(found.ngrams) is int and all(isinstance(flag, bool) for flag in flags)
        if not fits or not all(name is None or is_label(name) for name in names):
            raise ValueError("not settings")
        return found

    def as_map(self) -> "dict[str, Any]":
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.as_map() == other.as_map()

    __hash__ = None  # type: ignore[assignment]

    def words(self) -> Words:
        """Return the object that cuts texts by these settings."""
        stem = None
        if self.stem:
            from spamnb.reading.languages import stemmer

            stem = stemmer(self.stem)
        return Words(self.ngrams, frozenset(self.stop_words), stem, dotless=self.stem == "turkish")


def folded_stop_words(stop_words: "Sequence[str]") -> list[str]:
    """Return stop words as the tokenizer will meet them, without those that it cuts in several."""
    words = Words()
    return sorted({found[0] for found in map(words.of, stop_words) if len(found) == 1})
