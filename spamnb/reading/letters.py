"""Replacing characters that look like others, and removing invisible ones."""

from __future__ import annotations

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
# Characters replaced before normalisation (NFKC), which leaves them or makes worse: ™ would be TM, ´ a space.
PLAINER: dict[int, int | None] = {
    **dict.fromkeys(_INVISIBLE_CODES),
    **str.maketrans("ʼ´׳‐‑־™℠", "'''---  "),
    **dict.fromkeys((*range(0xFC5E, 0xFC64), *range(0xFE70, 0xFE80))),  # Arabic vowels on a space
    **str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    **{first + n: 65 + n for first in (0x1F150, 0x1F170) for n in range(26)},  # letters in white on black
}

# Letters of other writing systems that look like Latin ones, and are read as such beside Latin letters.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХѴӀ" + "аеорсухіјѕԁһԛԝѵӏү" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "αεηικνορτυχγως" + "օսհոցյ" + "ɑɡɩ",
    "ABESIJKMHOPCTYXVl" + "aeopcyxijsdhqwvly" + "ABEZHIKMNOPTYX" + "aenikvoptuxywc" + "ouhngj" + "agi",
)
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def unmasked(word: str) -> str:
    """Replace look-alikes of Latin letters if a word also has Latin letters; a Russian word is unchanged."""
    if "-" in word:  # SMS-сообщение
        return "-".join(map(unmasked, word.split("-")))
    return word if _LATIN.isdisjoint(word) else word.translate(_ALIKE)


def plain_letters(text: str) -> str:
    """Return a host or address as browsers look it up: in lower case, each letter in its normal form."""
    from unicodedata import normalize

    text = normalize("NFKC", text.translate(PLAINER)).replace("。", ".").lower()
    return "".join([char for char in text if char.isprintable() and char != " "])
