"""Make spamnb/core/letter_tables.py: how often letters follow each other, to find charsets by.

    python bench/letter_tables.py TEXTS > spamnb/core/letter_tables.py

TEXTS is a folder of plain texts in UTF-8, one file per language: de.txt, zh-Hans.txt … We used prose from
Debian packages: descriptions of packages (the archive's Translation-* files), manual pages, handbooks and
catalogues of messages (manpages-*, debian-handbook, debian-reference-*, libreoffice-l10n-*, gimp-help-*,
inkscape, digikam-data, gnucash-common, widelands-data, git).
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections import Counter
from pathlib import Path

from spamnb.core.letter_tables import CHARSETS

HEAD = '''"""How often letters follow each other, as bench/letter_tables.py counted them in prose."""

# ruff: noqa: E501
# fmt: off

# Letters beyond ASCII, and what each class of characters costs behind each: "#" nothing, "$" a quarter nat.
# Classes are: no letter, a to z, another letter beyond ASCII, and these letters.'''
ABOUT_CHARSETS = """

# What stands in the upper half of each charset: a small or a Capital letter, a frequent mark (.) or another
# (,), nothing (-); and the class of each in the tables of its languages.
"""
LANGUAGES = """
    en de fr es pt it nl sv da nb fi is ca pl cs sk hu sl hr ro lt lv et tr vi
    ru uk bg sr be mk el he ar fa th
""".split()
IDEOGRAPHS = "zh-Hans zh-Hant ja ko".split()
MARKS = "\xa0«»„“”–—…’‘·°€§®©™№¡¿ºª•‚‹›"  # frequent in prose
RAREST = 5e-4  # share of the letters beyond ASCII below which a letter is not the language's own
MIN_COUNT = 30
SMOOTH = 5.0
MAX_KEPT_LETTERS = 3000  # ideographs, kana and syllables of a language that are kept
STEP = 0.25  # nats of a step of the table
FIRST = 35  # the character that stands for probability 1: the first after the quotes
MAX_STEPS = 44  # steps: what was never seen is not impossible
BETWEEN, OTHER, FIRST_OWN = 0, 27, 28  # classes: no letter; behind ASCII's 26 any other, the language's own


def main(folder: Path) -> None:
    print(HEAD)
    english = text_of(folder, "en")
    own = {}
    print("LETTERS = {")
    for language in LANGUAGES:
        own[language], rows = alphabet(prepared(text_of(folder, language), language), english)
        print(f'    "{language}": ({ascii_safe(own[language])}, b{quoted("".join(rows))}),')
    print("}\n\n# The most frequent characters beyond ASCII, and what each costs.\nIDEOGRAPHS = {")
    for language in IDEOGRAPHS:
        characters, costs = most_frequent(text_of(folder, language))
        print(f'    "{language}": ("{characters}", b{quoted(costs)}),')
    print("}" + ABOUT_CHARSETS + "CHARSETS = {")
    for name, half in upper_halves(own).items():
        print(f'    "{name}": {half},')
    print("}")


def ascii_safe(text: str) -> str:
    return '"' + "".join(c if unicodedata.category(c)[0] in "LS" else f"\\u{ord(c):04x}" for c in text) + '"'


def quoted(row: str) -> str:
    return '"' + row.replace("\\", "\\\\").replace('"', '\\"') + '"'


def text_of(folder: Path, language: str) -> str:
    return (folder / f"{language}.txt").read_text("utf-8")


def kind(char: str) -> str:
    if char == "\ufffd" or char < "\xa0":
        return "-"
    if is_letter(char):
        return "C" if folded(char) != char else "s"
    return "." if char in MARKS else ","


def upper_halves(own: dict[str, str]) -> dict[str, tuple[bytes, dict[str, bytes]]]:
    """Return, by single-byte charset, the characters from byte 128 on, and their classes by language."""
    found = {}
    for name, (_, languages) in CHARSETS.items():
        half = bytes(range(128, 256)).decode(name, "replace")
        classes = {language: classes_of(half, own[language]) for language in languages}
        found[name] = "".join(map(kind, half)).encode(), classes
    return found


def classes_of(half: str, letters: str) -> bytes:
    """Return the class of each character in `half`: its number in `letters`, other letter, or no letter."""
    number = numbered(letters)
    return bytes([number.get(folded(char), OTHER if kind(char) in "sC" else BETWEEN) for char in half])


def numbered(letters: str) -> dict[str, int]:
    return {letter: FIRST_OWN + n for n, letter in enumerate(letters)}


def folded(char: str) -> str:
    lower = char.lower()
    return lower if len(lower) == 1 else char


def is_letter(char: str) -> bool:
    return char > "\x7f" and unicodedata.category(char)[0] in "LM"


def alphabet(text: str, english: str) -> tuple[str, list[str]]:
    """Return a language's letters beyond ASCII, and for each letter class the cost of each class after it."""
    counts = Counter(folded(c) for c in text if is_letter(c))
    letters = "".join(sorted(c for c, n in counts.items() if n > RAREST * counts.total() and n > MIN_COUNT))
    number = numbered(letters) | {chr(97 + i): 1 + i for i in range(26)}
    size = FIRST_OWN + len(letters)
    pairs = [[0.0] * size for _ in range(size)]
    for prose, weight in ((text, 1e6 / len(text)), (english, 3e4 / len(english))):
        before = 0
        for char in prose:
            now = number.get(folded(char), OTHER if is_letter(char) else BETWEEN)
            pairs[before][now] += weight
            before = now
    overall = [sum(row[i] for row in pairs) + 0.5 for i in range(size)]
    rows = []
    for row in pairs:  # smoothed by what is frequent anywhere
        total = sum(row) + SMOOTH
        shares = [(n + SMOOTH * o / sum(overall)) / total for n, o in zip(row, overall, strict=True)]
        rows.append("".join(map(steps, shares)))
    return letters, rows


def prepared(text: str, name: str) -> str:
    if name == "vi":  # as windows-1258 has it: five tones stand behind the letter
        return to_1258(text)
    if name == "ro":  # Romanian with comma below is written with cedilla in the charsets
        return text.translate(str.maketrans("țșȚȘ", "ţşŢŞ"))
    return text


TONES = "\u0300\u0309\u0303\u0301\u0323"


def to_1258(text: str) -> str:
    out = []
    for char in unicodedata.normalize("NFC", text):
        parts = unicodedata.normalize("NFD", char)
        tone = "".join(c for c in parts if c in TONES)
        rest = unicodedata.normalize("NFC", "".join(c for c in parts if c not in TONES))
        out.append(rest + tone if tone else char)
    return "".join(out)


def most_frequent(text: str) -> tuple[str, str]:
    """Return the most frequent characters beyond ASCII, and the cost of each."""
    counts = Counter(c for c in text if c > "\x7f" and c.isprintable())
    found = counts.most_common(MAX_KEPT_LETTERS)
    costs = "".join(steps(count / counts.total()) for _, count in found)
    return "".join(c for c, _ in found), costs


def steps(share: float) -> str:
    return chr(FIRST + min(MAX_STEPS, round(-math.log(share) / STEP)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
