"""Text to words: what a reader takes for the same word becomes the same word."""

from __future__ import annotations

from itertools import groupby, pairwise
from unicodedata import category, normalize

from spamnb.tokens.letters import PLAINER, TYPOGRAPHY, unmasked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")

LONGEST = 32  # longer ones are file names, encoded data, random strings: kept as a short form
MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
PIECE = 512  # characters normalised at once
MOST_KNOWN = 20_000  # words, stems, or characters that are remembered

# Inside a word, beside letters and digits. The rest separates.
JOINERS = "'$!-_"

# By byte: what is not ASCII stays for a closer look.
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
        self.known_headers: dict[tuple[str, str], list[str]] = {}  # header_rules' memory of these words
        self._known: dict[str, list[str]] = {}
        self._stems: dict[str, str] = {}
        self._table = _SPACED if keep_case else _FOLDED

    def of(self, text: str) -> list[str]:
        """The words of a text, in order, without n-grams."""
        plain = text.isascii()
        if not plain:
            for char, ascii_char in TYPOGRAPHY:
                text = text.replace(char, ascii_char)
            plain = text.isascii()
        words = chunks(text, self._table)
        if not plain:
            words = self._read(words)
        if not (plain and len(text) <= LONGEST) and max(map(len, words), default=0) > LONGEST:
            words = [word if len(word) <= LONGEST else shortened(word) for word in words]
        if self.stop_words:
            words = [word for word in words if word.casefold() not in self.stop_words]
        if self.stem:
            words = [self._stemmed(word) for word in words]
        return words

    def _read(self, chunks: list[str]) -> list[str]:
        """The words of chunks of which some are not ASCII."""
        known = self._known
        words: list[str] = []
        for chunk in chunks:
            if chunk.isascii():
                words.append(chunk)
            else:
                words += known[chunk] if chunk in known else self._cut(chunk)
        return words[:MOST_WORDS]

    def _cut(self, chunk: str) -> list[str]:
        """The words of a chunk that is not all ASCII."""
        words = [word for piece in pieces(chunk[:MOST_WORDS]) for word in self._seen(piece)]
        return remembered(self._known, chunk, words) if len(chunk) <= LONGEST else words

    def _seen(self, piece: str) -> list[str]:
        """What a reader sees of it: NFKC, without what is not seen, look-alikes put right."""
        words: list[str] = []
        for word in normalize("NFKC", piece.translate(PLAINER)).translate(_SEPARATORS).split():
            word = unmasked(word.strip("'"))
            if not self.keep_case:
                word = word.casefold()
            if word:
                words += syllables(word) if max(word) >= _FIRST_DENSE else (word,)
        return words

    def grams(self, words: list[str]) -> list[str]:
        """The words, and their n-grams: two to n neighbours, joined by spaces."""
        if self.ngrams == 1:
            return words
        grams = list(words)
        for n in range(2, self.ngrams + 1):
            grams += map(" ".join, zip(*(words[start:] for start in range(n)), strict=False))
        return grams

    def _stemmed(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            stem = remembered(self._stems, word, self.stem(word) if self.stem else word)
        return stem


def remembered(memory: dict[Key, Value], key: Key, value: Value, most: int = MOST_KNOWN) -> Value:
    """The value, put into a memory. A full one is emptied: what is common is soon there again."""
    if len(memory) >= most:
        memory.clear()
    memory[key] = value
    return value


class _Separators(dict[int, int]):
    """A translation table that decides about each code point once: part of a word, or a space."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        inside = char.isalnum() or char in JOINERS or category(char)[0] == "M"
        return remembered(self, code, code if inside else 32)


_SEPARATORS = _Separators()


def chunks(text: str, table: bytes) -> list[str]:
    """A text cut at what separates in ASCII: 95 MB/s, where a regular expression finds words at 15 to 20."""
    data = text.encode("utf-8", "replace").translate(table)
    quoted = b"'" in data
    if quoted:  # around a word, not in it
        data = b" %b " % data
        data = data.replace(b" '", b"  ").replace(b"' ", b"  ")
        quoted = b" '" in data or b"' " in data  # more than one: too rare to be done in bytes
    found = data.decode().split(None, MOST_WORDS)
    del found[MOST_WORDS:]
    if quoted:
        found = [word for word in [chunk.strip("'") for chunk in found] if word]
    return found


def pieces(chunk: str) -> list[str]:
    """Over a long run of combining marks normalisation takes quadratic time, so it goes piece by piece."""
    return [chunk[start : start + PIECE] for start in range(0, len(chunk), PIECE)]


def shortened(word: str) -> str:
    """A useful short form of an over-long word: how it starts, and roughly how long it is."""
    return f"{word[:6]}~{len(word).bit_length()}"


def syllables(word: str) -> list[str]:
    """Scripts written without spaces as pairs of neighbouring characters; the rest of the word as it is."""
    units: list[str] = []
    for dense, chars in groupby(word, _DENSE.__getitem__):
        run = "".join(chars)
        if dense and len(run) > 1:
            units += map("".join, pairwise(run))
        else:
            units.append(run)
    return units


class _Dense(dict[str, bool]):
    """Which characters are of a script written without spaces, decided once each."""

    def __missing__(self, char: str) -> bool:
        return remembered(self, char, any(first <= char <= last for first, last in _DENSE_SCRIPTS))


_FIRST_DENSE = "\u0e00"
_DENSE_SCRIPTS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u2e80", "\u9fff"),  # Chinese, Japanese
    ("\uac00", "\ud7af"),  # Korean
    ("\uf900", "\ufaff"),  # Chinese
    ("\U00020000", "\U0003ffff"),
)
_DENSE = _Dense()
