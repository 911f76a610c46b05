"""Character references: `&eacute;`, `&#233;` and `&#xE9;` become the letters they stand for.

The standard library's `html` brings `re` and costs 12 ms to import, about what a whole delivery may take.
The table here holds the names of HTML 4 (of 21,000 references in real mail it knew all but five that no
browser knows either); only another name loads the standard library's.
"""

from __future__ import annotations

LONGEST_NAME = 31  # letters
LONGEST_BARE_NAME = 6  # letters; a bare name stands without ";"

_LATIN_1 = (
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 "
    "sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc "
    "Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve "
    "Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute "
    "acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde "
    "ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
)
_GREEK = (
    "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau "
    "Upsilon Phi Chi Psi Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa "
    "lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega"
)
_OTHERS = (
    "apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ ndash – mdash — horbar ― lsquo "
    "‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ "
    "lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒ hArr ⇔ "
    "part ∂ sum ∑ minus − radic √ infin ∞ cap ∩ int ∫ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ loz ◊ spades ♠ clubs "
    "♣ hearts ♥ diams ♦"
)
_INVISIBLE = {
    "ensp": "\u2002",
    "emsp": "\u2003",
    "thinsp": "\u2009",
    "zwnj": "\u200c",
    "zwj": "\u200d",
    "lrm": "\u200e",
    "rlm": "\u200f",
}

# _BARE: names that HTML accepts without ";". _NAMED: all names of this table.
_BARE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "AMP": "&", "LT": "<", "GT": ">", "QUOT": '"'}
_BARE |= {"COPY": "\xa9", "REG": "\xae"}
_BARE.update(zip(_LATIN_1.split(), map(chr, range(0xA0, 0x100)), strict=True))
_NAMED = {**_BARE, **_INVISIBLE}
_NAMED.update(zip(_GREEK.split(), map(chr, range(0x391, 0x3CA)), strict=True))
_NAMED.update(zip(_OTHERS.split()[::2], _OTHERS.split()[1::2], strict=True))
del _NAMED["-"]  # gaps in the Greek block

_UNKNOWN = "\ufffd"
_BEYOND = 0x110000  # the number after the last character's
_WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"  # characters 128 to 159 of windows-1252


def unescape(text: str, attribute: bool = False) -> str:
    """Return the text with its character references replaced, as HTML says; any other "&" stays.

    In an attribute a name without ";" before a letter, digit or "=" is no reference: `?a=1&copy=2`.
    """
    at = text.find("&")
    if at < 0:
        return text
    pieces: list[str] = []
    done, size = 0, len(text)
    while at >= 0:
        if done < at:
            pieces.append(text[done:at])
            done = at
        at = text.find("&", done + 1)
        end = at if at >= 0 else size
        char = text[done + 1] if done + 1 < size else " "
        if char == "#":
            done = _add_number(pieces, text, done, end)
        elif "a" <= char <= "z" or "A" <= char <= "Z":
            done = _add_name(pieces, text, done, end, attribute)
    pieces.append(text[done:])
    return "".join(pieces)


def _add_number(pieces: list[str], text: str, start: int, end: int) -> int:
    """Add the letter of a reference by number and return where it ends: at its start if it is none."""
    at, base, code = start + 2, 10, 0
    if at < end and (text[at] == "x" or text[at] == "X"):
        at, base = at + 1, 16
    first = at
    while at < end:
        digit = _digit(text[at])
        if digit >= base:
            break
        code = min(code * base + digit, _BEYOND)
        at += 1
    if at == first:
        return start
    if 0x80 <= code < 0xA0:  # authors mean what windows-1252 has there
        pieces.append(_WINDOWS[code - 0x80])
    elif code == 0 or code == _BEYOND or 0xD800 <= code < 0xE000:
        pieces.append(_UNKNOWN)
    else:
        pieces.append(chr(code))
    return at + 1 if at < end and text[at] == ";" else at


def _digit(char: str) -> int:
    """Return the value of a hexadecimal digit, 16 for any other character."""
    if "0" <= char <= "9":
        return ord(char) - 48
    if "a" <= char <= "f":
        return ord(char) - 87
    return ord(char) - 55 if "A" <= char <= "F" else 16


def _add_name(pieces: list[str], text: str, start: int, end: int, attribute: bool) -> int:
    """Add the letter of a reference by name and return where it ends: at its start if it is none."""
    first = word_end = start + 1
    while word_end < end and word_end - first < LONGEST_NAME and _is_alphanumeric(text[word_end]):
        word_end += 1
    char = text[word_end] if word_end < end else " "
    if char == ";":
        letter = _named(text[first:word_end])
        if letter:
            pieces.append(letter)
            return word_end + 1
    for at in range(min(word_end, first + LONGEST_BARE_NAME), first + 1, -1):
        if attribute and (at < word_end or char == "=" or char.isalnum()):
            break
        letter = _BARE.get(text[first:at], "")
        if letter:
            pieces.append(letter)
            return at
    return start


def _is_alphanumeric(char: str) -> bool:
    return "a" <= char <= "z" or "A" <= char <= "Z" or "0" <= char <= "9"


def _named(name: str) -> str:
    letter = _NAMED.get(name, "")
    if not letter:
        # Late: `html` costs 12 ms, and one page in some hundreds has such a name.
        from html.entities import html5

        letter = html5.get(name + ";", "")
    return letter
