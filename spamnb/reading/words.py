"""Words of texts: which are left out by the settings of a model, and which are taken for the same."""

from __future__ import annotations

from spamnb.core.native import MAX_WORDS, spaced_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_WORD = 32  # characters; longer words (file names, encoded data, random strings) are shortened
MAX_STEMS = 20_000  # remembered; then all are forgotten, and soon there is what is common


class Words:
    """Cuts text into words by the settings of a model: stop words, stemming, n-grams."""

    def __init__(
        self,
        ngrams: int = 1,
        stop_words: frozenset[str] = frozenset(),
        stem: Callable[[str], str] | None = None,
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
        return [at_most_long(word) for word in split(self.spaced(text))][:MAX_WORDS]

    def spaced(self, text: str) -> bytes:
        """Return a text as words with spaces between them, quotes around and over-long ones as they are."""
        return spaced_words(text, self)

    def filtered(self, spaced: bytes) -> bytes:
        """Leave out stop words, and stem the others."""
        words = [at_most_long(word) for word in split(spaced)[:MAX_WORDS]]
        if self.stop_words:
            words = [word for word in words if word.casefold().replace("ı", "i") not in self.stop_words]
        if self.stem:
            words = [self._stemmed(word, self.stem) for word in words]
        return " ".join(words).encode()

    def _stemmed(self, word: str, stem: Callable[[str], str]) -> str:
        found = self._stems.get(word)
        if found is None:
            if len(self._stems) >= MAX_STEMS:
                self._stems.clear()
            found = self._stems[word] = stem(word)
        return found


def split(spaced: bytes) -> list[str]:
    """Return the words of a text without the quotes around them."""
    return [word for word in [chunk.strip("'") for chunk in spaced.decode().split()] if word]


def at_most_long(word: str) -> str:
    """Return a word; of an over-long one, how it starts and roughly how long it is."""
    return word if len(word) <= MAX_WORD else f"{word[:6]}~{len(word).bit_length()}"
