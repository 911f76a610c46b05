"""Words that are not all ASCII: those that look the same to a reader become the same.

core/scripts.pyx reads most letters of mail by tables made from what this says, and calls this for the rest.
"""

from __future__ import annotations

from unicodedata import category, normalize

from spamnb.reading.folding import NON_JOINER, folded, without_non_joiners
from spamnb.reading.letters import PLAINER, unmasked

JOINERS = "'$!-_"  # may stand inside a word, beside letters and digits; all other characters separate words
WHOLE, PAIRS, SYLLABLES = range(3)  # how words are cut further


def visible_words(piece: str) -> list[str]:
    """Return the words that a reader sees: without invisible characters, forms and look-alikes replaced."""
    words: list[str] = []
    if NON_JOINER in piece:
        piece = without_non_joiners(piece)
    text = normalize("NFKC", piece.translate(PLAINER))
    at, size = 0, len(text)
    while at < size:
        start, has_ascii = at, False
        while at < size and is_inside(text[at]):
            has_ascii = has_ascii or text[at] < "\x80"
            at += 1
        if at > start:
            word = folded(text[start:at])
            if has_ascii:
                word = unmasked(word.strip("'"))
            add_syllables(words, word.casefold())
        if at < size and is_emoji(text[at]):
            at = add_emoji(words, text, at)
        else:
            at += 1
    return words


def add_emoji(words: list[str], text: str, at: int) -> int:
    """Add each emoji of a run as a word; return where the run ends."""
    size = len(text)
    while at < size and is_emoji(text[at]):
        # A flag is two letters; other joined pictures count as each of them.
        end = (
            at + 2 if at + 1 < size and is_flag_letter(text[at]) and is_flag_letter(text[at + 1]) else at + 1
        )
        words.append(text[at:end])
        at = end
        while at < size and "\U0001f3fb" <= text[at] <= "\U0001f3ff":  # colours of skin
            at += 1
    return at


def is_emoji(char: str) -> bool:
    """Tell whether a character is a picture: an emoji, or a sign such as a star or a heart."""
    if char < "\U0001f000":
        return "\u2600" <= char <= "\u27bf" or "\u23e9" <= char <= "\u23fa" or "\u2b05" <= char <= "\u2b55"
    return char <= "\U0001faff"


def is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def is_inside(char: str) -> bool:
    """Tell whether a character is part of a word."""
    if char.isalnum():
        return True
    return char in JOINERS if char < "\x80" else category(char)[0] == "M"


def add_syllables(words: list[str], word: str) -> None:
    """Add a word; of scripts written without spaces, its syllables or pairs of neighbouring characters."""
    start, size = 0, len(word)
    while start < size:
        cut, end = cut_of(word[start]), start + 1
        while end < size and cut_of(word[end]) == cut:
            end += 1
        if cut == PAIRS and end - start > 1:
            for at in range(start, end - 1):
                words.append(word[at : at + 2])
        elif cut == SYLLABLES:
            while start < end:
                stop = syllable_end(word, start, end)
                words.append(word[start:stop])
                start = stop
        else:
            words.append(word[start:end])
        start = end


def cut_of(char: str) -> int:
    """Tell how words of a script are cut: those of scripts that are written without spaces."""
    if char < "\u2e80":  # Thai and Lao, Burmese, Khmer
        if "\u0e00" <= char <= "\u0eff" or "\u1000" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff":
            return WHOLE if char.isdecimal() else SYLLABLES
        return WHOLE
    if char < "\uf900":  # Chinese and Japanese, Korean
        return PAIRS if char <= "\u9fff" or "\uac00" <= char <= "\ud7af" else WHOLE
    return PAIRS if char <= "\ufaff" or "\U00020000" <= char <= "\U0003ffff" else WHOLE  # Chinese


def syllable_end(word: str, start: int, end: int) -> int:
    """Find the end of a syllable, roughly: one consonant alone closes it. Burmese marks those that do."""
    at = cluster_end(word, start, end)
    can_close = start + 1 < at < end and word[at - 1] not in "ะະ" and not "\u1000" <= word[at] <= "\u109f"
    return at + 1 if can_close and cluster_end(word, at, end) == at + 1 else at


def cluster_end(word: str, start: int, end: int) -> int:
    """Find the end of a consonant with the vowels, signs and stacked letters around it."""
    at = start + 1
    while at < end and is_bound(word[at - 1], word[at], word[at + 1] if at + 1 < end else " "):
        at += 1
    return at


def is_bound(before: str, char: str, after: str) -> bool:
    """Tell whether a character belongs to the same syllable as the one before it."""
    if char < "\u0f00":  # Thai and Lao have the same order; some vowels stand before their consonant
        place = ord(char) & 0x7F
        return 0x30 <= place <= 0x3C or 0x47 <= place <= 0x4E or 0x40 <= ord(before) & 0x7F <= 0x44
    # Burmese and Khmer: signs; a letter below the one before; one that closes or has another below it
    return not char.isalnum() or before == "\u1039" or before == "\u17d2" or "\u1039" <= after <= "\u103a"
