"""Words of texts. What is not ASCII is left to reading.scripts, loaded when there is some."""

from __future__ import annotations

from spamnb.reading.features import LONGEST_WORD, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.reading.scripts import Scripts

MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
MOST_STEMS = 20_000  # remembered; then all are forgotten, and soon there is what is common

# Characters that may stand inside a word, beside letters and digits. All others separate words.
JOINERS = "'$!-_"

# Translation tables that make spaces of separators. What is not ASCII stays for a closer look.
_SPACED = bytes(c if c > 127 or chr(c).isalnum() or chr(c) in JOINERS else 32 for c in range(256))
_FOLDED = _SPACED.lower()


class Words:
    """Cuts text into words by the settings of a model: case, stop words, stemming, n-grams."""

    def __init__(
        self,
        ngrams: int = 1,
        keep_case: bool = False,
        stop_words: frozenset[str] = frozenset(),
        stem: Callable[[str], str] | None = None,
    ) -> None:
        self.ngrams = ngrams
        self.keep_case = keep_case
        self.stop_words = stop_words
        self.stem = stem
        self._scripts: Scripts | None = None
        self._stems: dict[str, str] = {}
        self._table = _SPACED if keep_case else _FOLDED
        self._simple = not stop_words and stem is None

    def of(self, text: str) -> list[str]:
        """Return the words of a text, in order, without n-grams."""
        words = [chunk.strip("'") for chunk in self.spaced(text).decode().split()]
        return [at_most_long(word) for word in words if word][:MOST_WORDS]

    def spaced(self, text: str) -> bytes:
        """Return a text as words with spaces between them, maybe in quotes, over-long ones not yet shortened."""
        plain = text.isascii()
        if not plain:
            text = plain_typography(text)
            plain = text.isascii()
        data = text.encode("utf-8", "replace").translate(self._table)
        if plain and self._simple:
            return data
        chunks = data.decode().split(None, MOST_WORDS)
        words = [word for word in [chunk.strip("'") for chunk in chunks[:MOST_WORDS]] if word]
        if not plain:
            words = self._read_scripts(words)
        if not self._simple:
            words = self._filtered_and_stemmed(words)
        return " ".join(words).encode()

    def _read_scripts(self, chunks: list[str]) -> list[str]:
        """Return the words of chunks of which some are not ASCII."""
        if self._scripts is None:
            from spamnb.reading.scripts import Scripts

            self._scripts = Scripts(self.keep_case)
        return self._scripts.words(chunks)

    def _filtered_and_stemmed(self, words: list[str]) -> list[str]:
        """Leave out stop words, and stem the others."""
        words = [at_most_long(word) for word in words]
        if self.stop_words:
            words = [word for word in words if word.casefold() not in self.stop_words]
        return [self._stemmed(word) for word in words] if self.stem else words

    def _stemmed(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            if len(self._stems) >= MOST_STEMS:
                self._stems.clear()
            stem = self._stems[word] = self.stem(word) if self.stem else word
        return stem


def at_most_long(word: str) -> str:
    """Return a word, or the short form of an over-long one."""
    return word if len(word) <= LONGEST_WORD else shortened(word)


def plain_typography(text: str) -> str:
    """Replace typographic marks by their ASCII forms."""
    from spamnb.reading.letters import TYPOGRAPHY

    for char, ascii_char in TYPOGRAPHY:
        text = text.replace(char, ascii_char)
    return text
