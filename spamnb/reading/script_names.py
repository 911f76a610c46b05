"""Scripts that words and messages are written in: Latin, Cyrillic, Han, and others that mail has.

They are told by the first bytes of each character, as UTF-8 sorts like the characters themselves.
"""

from __future__ import annotations

import numpy as np

from spamnb.arrays import Array, Rows, Texts, run_starts

# The ranges of letters, in hexadecimal. Of a word in two scripts, the later one here counts: an e-mail адрес
# is Cyrillic, and a word with kana is Japanese.
_RANGES = {
    "Latin": "aa-2af 1d00-1dbf 1e00-1eff 2c60-2c7f a720-a7ff ab30-ab6f",
    "Han": "2e80-2fff 3005-3007 3100-312f 31a0-31ef 3400-4dbf 4e00-9fff f900-faff 20000-3ffff",
    "Japanese": "3040-30ff 31f0-31ff",
    "Hangul": "1100-11ff 3130-318f a960-a97f ac00-d7ff",
    "Greek": "370-3ff 1f00-1fff",
    "Cyrillic": "400-52f 1c80-1c8f 2de0-2dff a640-a69f",
    "Armenian": "530-58f",
    "Hebrew": "590-5ff",
    "Arabic": "600-6ff 750-77f 870-8ff fb50-fdff fe70-fefe",
    "Devanagari": "900-97f a8e0-a8ff",
    "Bengali": "980-9ff",
    "Gurmukhi": "a00-a7f",
    "Gujarati": "a80-aff",
    "Tamil": "b80-bff",
    "Telugu": "c00-c7f",
    "Kannada": "c80-cff",
    "Malayalam": "d00-d7f",
    "Sinhala": "d80-dff",
    "Thai": "e00-e7f",
    "Lao": "e80-eff",
    "Burmese": "1000-109f a9e0-a9ff aa60-aa7f",
    "Georgian": "10a0-10ff 1c90-1cbf 2d00-2d2f",
    "Ethiopic": "1200-139f 2d80-2ddf ab00-ab2f",
    "Khmer": "1780-17ff",
    "Mongolian": "1800-18af",
}
SCRIPTS = ("", *_RANGES)  # by their numbers; 0 is none: digits, pictures, and what has a tag
LATIN, HAN, JAPANESE = (SCRIPTS.index(name) for name in ("Latin", "Han", "Japanese"))
LEAST_KANA = 0.2  # words with kana for each of Han alone, from which on a message is Japanese

FIRST_LEAD = 0xC2  # the least byte that a character beyond ASCII begins with
FIRST_OTHER_LEAD = 0xCD  # and one that is neither ASCII nor Latin as in Europe
_ASCII_LETTERS = np.array([chr(byte).isalpha() and byte < 128 for byte in range(256)])


def _first_bytes(code: int) -> int:
    """Return the first three bytes of a character as a number."""
    return int.from_bytes(chr(code).encode("utf-8", "surrogatepass")[:3].ljust(3, b"\0"))


def _borders() -> tuple[Array, Array]:
    """Return where another script begins, as the first bytes of characters, and its number."""
    found = {0: 0}
    for number, ranges in enumerate(_RANGES.values(), 1):
        for first, last in [text.split("-") for text in ranges.split()]:
            found[int(first, 16)] = number
            found.setdefault(int(last, 16) + 1, 0)
    ordered = sorted(found)
    return np.array([*map(_first_bytes, ordered)]), np.array([found[code] for code in ordered], np.int8)


_BORDERS, _SCRIPTS_THERE = _borders()


def scripts_of_words(texts: Texts) -> Array:
    """Return the number of the script of each word: by its first letter, if that is ASCII, and all others."""
    ends, data = texts.ends, texts.data
    found = np.zeros(len(ends), np.int8)
    if not len(data):
        return found
    lengths = texts.lengths
    found[(lengths > 0) & _ASCII_LETTERS[data.take(ends - lengths, mode="clip")]] = LATIN
    leads = np.flatnonzero(data >= FIRST_LEAD)
    if len(leads):
        first_bytes = np.zeros(len(leads), np.int32)
        for offset in range(3):
            first_bytes = first_bytes << 8 | data.take(leads + offset, mode="clip")
        scripts = _SCRIPTS_THERE[np.searchsorted(_BORDERS, first_bytes, "right") - 1]
        owners = np.searchsorted(ends, leads, "right")
        firsts = np.flatnonzero(run_starts(owners))
        owners = owners[firsts]
        found[owners] = np.maximum(found[owners], np.maximum.reduceat(scripts, firsts))
    found[np.searchsorted(ends, np.flatnonzero(data == ord(":")), "right")] = 0
    return found


def counts_by_name(counts: Array) -> dict[str, int]:
    """Name the scripts that there are, most first, by how many words or messages each number has."""
    found = {SCRIPTS[number]: int(counts[number]) for number in np.argsort(-counts, kind="stable")}
    return {name: count for name, count in found.items() if name and count}


def scripts_of_messages(rows: Rows, texts: Texts) -> Array:
    """Return the number of the script that most words of each message are in; Latin if it has no words."""
    if texts.data.max(initial=0) < FIRST_OTHER_LEAD:
        return np.full(len(rows), LATIN)
    first_cells = np.arange(len(rows)) * len(SCRIPTS)
    cells = np.repeat(first_cells, rows.lengths) + scripts_of_words(texts)[rows.places]
    counts = np.bincount(cells, minlength=len(rows) * len(SCRIPTS)).reshape(-1, len(SCRIPTS))
    is_japanese = counts[:, JAPANESE] > LEAST_KANA * counts[:, HAN]
    counts[is_japanese, JAPANESE] += counts[is_japanese, HAN]
    found: Array = LATIN + counts[:, LATIN:].argmax(axis=1)
    return found
