"""Characters that look like others, or are invisible: how they are read, and whether they are a trick."""

from __future__ import annotations

ASCII = bytes(range(128))

# Invisible characters: in Latin, Greek and Cyrillic they only serve to break words for a filter.
# Persian and Hindi are spelled with some, pictures are joined and coloured by them.
_INVISIBLE_CODES = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE0080),
    *range(0xE0100, 0xE01F0),
)
_GAPS = dict.fromkeys((*_INVISIBLE_CODES, *range(0x334, 0x339)), " ")  # and strokes through letters
_BREAKING = frozenset(map(chr, _GAPS))
_TURNED = frozenset("\u202d\u202e")  # the text behind them is shown from right to left, or left to right

# Often the only characters of a text that are not ASCII, and how they are read: once they are replaced, two
# in three of such texts are ASCII, which is read four times as fast.
TYPOGRAPHY = (("\xa0", " "), *zip("‘’“”–—…•©®", "''        ", strict=True))

# Characters replaced before normalisation (NFKC), which leaves them or makes worse: ™ would be TM, ´ a space.
PLAINER: dict[int, int | None] = {
    **dict.fromkeys(_INVISIBLE_CODES),
    **str.maketrans("ʼ´׳‐‑־™℠", "'''---  "),
    **dict.fromkeys((*range(0xFC5E, 0xFC64), *range(0xFE70, 0xFE80))),  # Arabic vowels on a space
    **str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    **{first + n: 65 + n for first in (0x1F150, 0x1F170) for n in range(26)},  # letters in white on black
}

# Letters of other scripts that look like Latin ones; they count as such in a word that also has Latin ones.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХѴӀ" + "аеорсухіјѕԁһԛԝѵӏү" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "αεηικνορτυχγως" + "օսհոցյ" + "ɑɡɩ",
    "ABESIJKMHOPCTYXVl" + "aeopcyxijsdhqwvly" + "ABEZHIKMNOPTYX" + "aenikvoptuxywc" + "ouhngj" + "agi",
)
_LOOK_ALIKES = frozenset(map(chr, _ALIKE))
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Alphabets that nobody mixes with Latin letters: Greek to Armenian, Georgian, Cherokee, Coptic, Lisu.
_FOREIGN_CODES = (
    *range(0x370, 0x590),
    *range(0x10A0, 0x1100),
    *range(0x13A0, 0x1400),
    *range(0x2C80, 0x2D00),
    *range(0xA4D0, 0xA500),
)
_FOREIGN = frozenset(map(chr, _FOREIGN_CODES))
_ODD = _BREAKING | _LOOK_ALIKES | _FOREIGN


def unmasked(word: str) -> str:
    """Replace look-alike letters where Latin ones stand beside them; Russian stays Russian."""
    if "-" in word:  # SMS-сообщение
        return "-".join(map(unmasked, word.split("-")))
    return word if _LATIN.isdisjoint(word) else word.translate(_ALIKE)


def reads_as_latin(word: str) -> bool:
    """Tell whether each letter of a word that is not ASCII looks like one that is."""
    return not word.isascii() and word.translate(_ALIKE).isascii()


def trick_in(text: str) -> str:
    """Return how a text hides words from a filter; nothing if it does not.

    They are "masked" by look-alike letters or invisible characters, or "mixed" of letters of two alphabets,
    none of which looks Latin.
    """
    if text.isascii():
        return ""
    if _ODD.isdisjoint(beyond_ascii(text)):
        return ""
    chunks = [chunk for chunk in set(text.split()) if not chunk.isascii()]
    if any(_is_broken(chunk) or _is_mixed(chunk) for chunk in chunks):
        return "masked"
    return "mixed" if any(map(_changes_alphabet, chunks)) else ""


def beyond_ascii(text: str) -> str:
    """Return the characters of a text that are not ASCII, 100 times faster than by looking at each."""
    return text.encode("utf-8", "replace").translate(None, ASCII).decode()


def _is_broken(chunk: str) -> bool:
    """Tell whether something invisible stands between two letters, strikes them out or turns them round."""
    if _BREAKING.isdisjoint(chunk):
        return False
    if not _TURNED.isdisjoint(chunk):
        return True
    from itertools import pairwise  # not loaded for other mail

    runs = pairwise(chunk.translate(_GAPS).split())
    return any(_is_western(a[-1]) and _is_western(b[0]) for a, b in runs)


def _is_western(char: str) -> bool:
    """Tell whether a character is a letter of the Latin, Greek or Cyrillic script."""
    return char < "\u0530" and char.isalpha()


def _changes_alphabet(chunk: str) -> bool:
    """Tell whether a word changes between Latin and another alphabet, and back: PDFим does not."""
    if _LATIN.isdisjoint(chunk):
        return False
    changes, before = 0, ""
    for char in chunk:
        alphabet = "latin" if char in _LATIN else "foreign" if char in _FOREIGN else ""
        if not alphabet:
            changes = 0
        elif before and alphabet != before:
            changes += 1
            if changes > 1:
                return True
        before = alphabet
    return False


def _is_mixed(chunk: str) -> bool:
    """Tell whether letters that look Latin stand beside Latin ones, in a word without a hyphen."""
    if _LATIN.isdisjoint(chunk) or _LOOK_ALIKES.isdisjoint(chunk):
        return False
    words = "".join([char if char.isalpha() else " " for char in chunk]).split()
    return any(not _LATIN.isdisjoint(word) and not _LOOK_ALIKES.isdisjoint(word) for word in words)
