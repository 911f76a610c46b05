"""Text to words: what a reader takes for the same word becomes the same word."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 32  # longer ones are file names, encoded data, random strings: kept as a short form
MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
PIECE = 512  # characters normalised at once
CACHED = 20_000  # code points, or stems, that are remembered

# Inside a word, beside letters and digits. The rest separates.
JOINERS = "'$!-_"

_JOIN = JOINERS.encode()
_HOLE = "\x01"  # stands for a chunk that is not ASCII
_ASCII_KEEP = bytes(c if chr(c).isalnum() or c in _JOIN else 32 for c in range(128)) + b" " * 128
_ASCII_FOLD = _ASCII_KEEP.lower()

# Characters that are not seen: they only serve to break words for a filter.
_INVISIBLE = dict.fromkeys(
    [
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE0080),
        *range(0xE0100, 0xE01F0),
    ]
)

# Letters of other scripts that look like Latin ones; they count as such in a word that also has Latin ones.
_LOOKS_LIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеорсухіјѕԁһԛԝ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεηικνοροτυχγω" + "ɑɡɩıᴠʏᴄᴏᴜ",
    "ABESIJKMHOPCTYXaeopcyxijsdhqw" + "ABEZHIKMNOPTYXaenikvopotuxyw" + "agiivycou",
)


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
        self._stems: dict[str, str] = {}
        self._chunks: dict[str, list[str]] = {}
        self._table = _ASCII_KEEP if keep_case else _ASCII_FOLD
        self._holed_table = self._table[:1] + _HOLE.encode() + self._table[2:]

    def of(self, text: str) -> list[str]:
        """The words of a text, in order, without n-grams."""
        words = ascii_words(text, self._table) if text.isascii() else self._unicode(text)
        if max(map(len, words), default=0) > LONGEST:
            words = [word if len(word) <= LONGEST else shortened(word) for word in words]
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        if self.stem:
            words = [self._stemmed(word) for word in words]
        return words

    def _unicode(self, text: str) -> list[str]:
        """The same, with the chunks that are not ASCII looked at one by one and put back in their place."""
        chunks = text.replace(_HOLE, " ").split()
        holed = " ".join([chunk if chunk.isascii() else _HOLE for chunk in chunks])
        cut = map(self._cut, [chunk for chunk in chunks if not chunk.isascii()])
        words = ascii_words(holed, self._holed_table)
        return [word for one in words for word in (next(cut) if one == _HOLE else (one,))][:MOST_WORDS]

    def _cut(self, chunk: str) -> list[str]:
        """The words of a chunk that is not all ASCII."""
        known = self._chunks
        if chunk in known:
            return known[chunk]
        words = [word for piece in pieces(chunk[:MOST_WORDS]) for word in self._seen(piece)]
        if len(chunk) <= LONGEST:
            if len(known) >= CACHED:
                known.clear()
            known[chunk] = words
        return words

    def _seen(self, piece: str) -> list[str]:
        """What a reader sees of it: NFKC, without what is not seen, look-alikes put right."""
        words: list[str] = []
        for word in normalize("NFKC", piece).translate(_INVISIBLE).translate(_SEPARATORS).split():
            word = unmasked(word)
            if not self.keep_case:
                word = word.casefold()
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
        stems = self._stems
        if word not in stems:
            if len(stems) >= CACHED:
                stems.clear()
            stems[word] = self.stem(word) if self.stem else word
        return stems[word]


class _Separators(dict[int, int]):
    """A translation table that decides about each code point once: part of a word, or a space."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        inside = char.isalnum() or char in JOINERS or category(char)[0] == "M"
        if len(self) >= CACHED:
            self.clear()
        self[code] = code if inside else 32
        return self[code]


_SEPARATORS = _Separators()


def ascii_words(text: str, table: bytes) -> list[str]:
    """95 MB/s, where a regular expression finds words at 15 to 20."""
    return text.encode().translate(table).decode().split(None, MOST_WORDS)[:MOST_WORDS]


def pieces(chunk: str) -> list[str]:
    """Over a long run of combining marks normalisation takes quadratic time, so it goes piece by piece."""
    return [chunk[start : start + PIECE] for start in range(0, len(chunk), PIECE)]


def shortened(word: str) -> str:
    """A useful short form of an over-long word: how it starts, and roughly how long it is."""
    return f"{word[:6]}~{len(word).bit_length()}"


def unmasked(word: str) -> str:
    """Look-alike letters put right in a word that mixes them with Latin ones; Russian stays Russian."""
    if any("a" <= char <= "z" or "A" <= char <= "Z" for char in word):
        return word.translate(_LOOKS_LIKE)
    return word


def masked(text: str) -> bool:
    """Whether a text hides words from a filter, by look-alike letters or characters not seen."""
    return any(
        word.translate(_INVISIBLE) != word or unmasked(word) != word
        for word in text.split()
        if not word.isascii()
    )


def syllables(word: str) -> list[str]:
    """Scripts written without spaces as pairs of neighbouring characters; the rest of the word as it is."""
    units: list[str] = []
    run, dense = "", False
    for char in word + "\0":
        if run and (char == "\0" or _dense(char) != dense):
            if not dense or len(run) == 1:
                units.append(run)
            else:
                units += map("".join, pairwise(run))
            run = ""
        run += char
        dense = _dense(char)
    return units


_FIRST_DENSE = "\u0e00"


def _dense(char: str) -> bool:
    """Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\u0e00" <= char <= "\u0eff"
        or "\u1000" <= char <= "\u109f"
        or "\u1780" <= char <= "\u17ff"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )
