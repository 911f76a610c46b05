"""Words of texts. What is not ASCII is left to reading.scripts, loaded when there is some."""

from __future__ import annotations

from spamnb.reading.features import JOINERS, LONGEST_WORD, MOST_WORDS, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.reading import unchecked  # C: unchecked.pxd

SPACE = 32
MOST_STEMS = 20_000  # remembered; then all are forgotten, and soon there is what is common
MOST_RUNS, LONGEST_RUN = 5000, 60  # likewise, of characters that are not all ASCII; bytes of each


def _spaced_table() -> bytes:
    """Make a table of bytes that makes spaces of separators, and letters small; the rest is read later."""
    table = bytearray(128 * b" " + bytes(range(128, 256)))
    for letter in ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + JOINERS).encode():
        table[letter] = letter
    return bytes(table).lower()


_SPACED = _spaced_table()


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
        self._stems: dict[str, str] = {}
        self._runs: dict[bytes, bytes] = {}  # of characters, and their words
        self._simple = not stop_words and stem is None

    def of(self, text: str) -> list[str]:
        """Return the words of a text, in order, without n-grams."""
        words = [chunk.strip("'") for chunk in self.spaced(text).decode().split()]
        return [at_most_long(word) for word in words if word][:MOST_WORDS]

    def spaced(self, text: str) -> bytes:
        """Return a text as words with spaces between them, quotes around and over-long ones as they are."""
        if self.dotless:
            text = text.replace("I", "ı")
        plain = text.isascii()
        if not plain:
            text = plain_typography(text)
            if not self.dotless:
                text = text.replace("ı", "i")
            plain = text.isascii()
        if plain:
            data = unchecked.translated(text, _SPACED)
        else:
            data = self._read_scripts(text.encode("utf-8", "replace").translate(_SPACED))
        if self._simple:
            return data
        words = [
            word for word in [chunk.strip("'") for chunk in data.decode().split(None, MOST_WORDS)] if word
        ]
        return " ".join(self._filtered_and_stemmed(words[:MOST_WORDS])).encode()

    def _read_scripts(self, data: bytes) -> bytes:
        """Replace each run between spaces that is not ASCII by its words, up to the most that a text has."""
        from spamnb.reading.scripts import words_of_run

        pieces = []
        source, size, at, copied, runs = data, len(data), 0, 0, 0
        while at < size and runs < MOST_WORDS:
            start, plain = at, True
            while at < size and source[at] != SPACE:
                plain = plain and source[at] < 128
                at += 1
            if not plain:
                run = data[start:at]
                words = self._runs.get(run)
                if words is None:
                    words = " ".join(words_of_run(run.decode())).encode()
                    if len(self._runs) >= MOST_RUNS:
                        self._runs.clear()
                    if at - start <= LONGEST_RUN:
                        self._runs[run] = words
                pieces.append(data[copied:start])
                pieces.append(words)
                copied = at
            runs += at > start
            at += 1
        pieces.append(data[copied:at])
        return b"".join(pieces)

    def _filtered_and_stemmed(self, words: list[str]) -> list[str]:
        """Leave out stop words, and stem the others."""
        words = [at_most_long(word) for word in words]
        if self.stop_words:
            words = [word for word in words if word.casefold().replace("ı", "i") not in self.stop_words]
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


def word_count(spaced: bytes) -> int:
    """Count the words between the spaces of a text."""
    words, before = 0, SPACE
    for letter in spaced:
        if letter != SPACE and before == SPACE:
            words += 1
        before = letter
    return words
