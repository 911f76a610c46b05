"""Letters with the same meaning for readers: with or without marks, or typed on different keyboards.

core/scripts.pyx makes tables from these functions, and needs only the tables for most text. It calls
`normalized` only for words with rarer letters.
"""

from __future__ import annotations

from unicodedata import category, normalize

from spamnb.reading.letters import PLAINER, unmasked

JOINERS = "'$!-_"  # may stand inside a word, beside letters and digits; all other characters separate words
NON_JOINER = "\u200c"

# Marks of any alphabet, which normalisation leaves only where a letter has no form with them: stress in
# Russian, tones in Yoruba, letters struck out or buried under marks to hide a word.
_MARK_CODES = (
    *range(0x300, 0x370),
    *range(0x483, 0x48A),
    *range(0x1AB0, 0x1B00),
    *range(0x1DC0, 0x1E00),
    *range(0x20D0, 0x2100),
    *range(0xFE20, 0xFE30),
)
MARKS = frozenset(map(chr, _MARK_CODES))
_GREEK = [*range(0x370, 0x400), *range(0x1F00, 0x2000)]

FOLDED: dict[int, str | int | None] = {
    # Letters that stay: four times as fast if each letter of a word is in the table.
    **{code: code for code in (*range(128), *range(0x410, 0x450), *range(0x5D0, 0x6D5))},
    **dict.fromkeys(_MARK_CODES),
    **{code: ord(normalize("NFD", chr(code))[0]) for code in _GREEK},  # in capitals, words have no accents
    **dict.fromkeys((*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7)),  # Hebrew points
    **dict.fromkeys(  # Arabic vowels, and the stroke that only lengthens a word
        (*range(0x610, 0x61B), 0x640, *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6DD), *range(0x6DF, 0x6E5))
    ),
    **dict.fromkeys((0x6E7, 0x6E8, *range(0x6EA, 0x6EE), *range(0x8D3, 0x900))),
    **str.maketrans("ىیکۀ", "ييكه"),  # windows-1256 lacks the Persian yeh, so Persian has any of the three
    **dict(zip(range(0x5F0, 0x5F3), ("וו", "וי", "יי"), strict=True)),  # Yiddish, in one letter or in two
    **str.maketrans("ȘșȚțЁёİ", "ŞşŢţЕеI"),  # ISO-8859-2 lacks the comma; few Russians type ё
}


def normalized(piece: str) -> str:
    """Return words in lower case as a reader sees them: no invisible characters, look-alikes replaced."""
    if NON_JOINER in piece:
        piece = without_non_joiners(piece)
    text = normalize("NFKC", piece.translate(PLAINER))
    text = "".join([char if is_inside(char) or is_emoji(char) else " " for char in text])
    return " ".join([unmasked(without_marks(word)) for word in text.split(" ")]).casefold()


def is_inside(char: str) -> bool:
    """Return whether a character can be part of a word."""
    if char.isalnum():
        return True
    return char in JOINERS if char < "\x80" else category(char)[0] == "M"


def is_emoji(char: str) -> bool:
    """Return whether a character is a picture: an emoji, or a sign such as a star or a heart."""
    if char < "\U0001f000":
        return "\u2600" <= char <= "\u27bf" or "\u23e9" <= char <= "\u23fa" or "\u2b05" <= char <= "\u2b55"
    return char <= "\U0001faff"


def without_marks(word: str) -> str:
    """Return a normalised word without the marks (such as accents) that people may leave out."""
    if not MARKS.isdisjoint(word):
        letters: list[str] = []
        before = ""
        for char in word:
            if char not in MARKS:
                letters.append(char)
            elif before in MARKS and letters:  # what it has a form with is one more of a heap of marks
                letters[-1] = normalize("NFD", letters[-1])[0]
            before = char
        word = "".join(letters)
    return word.translate(FOLDED)


def without_non_joiners(text: str) -> str:
    """Replace each Persian non-joiner by a space, which many people type; remove other non-joiners."""
    pieces: list[str] = []
    for piece in text.split(NON_JOINER):
        if piece:
            if pieces and _is_arabic(pieces[-1][-1]) and _is_arabic(piece[0]):
                pieces.append(" ")
            pieces.append(piece)
    return "".join(pieces)


def _is_arabic(char: str) -> bool:
    return "\u0600" <= char <= "\u08ff" or "\ufb50" <= char <= "\ufefc"
