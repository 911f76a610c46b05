"""Character references: `&eacute;`, `&#233;` and `&#xE9;` become the letters they stand for.

The standard library's `html` brings `re` and costs 12 ms to import, about what a whole delivery may take.
The table here holds the names of HTML 4 (of 21,000 references in real mail it knew all but five that no
browser knows either); only another name loads the standard library's.
"""

from __future__ import annotations

LONGEST_NAME = 32  # characters, with ";": the longest name of HTML has 31 letters
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

_DECIMAL = "0123456789"
_HEXADECIMAL = "0123456789abcdefABCDEF"
_UNKNOWN = "\ufffd"
_WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"  # characters 128 to 159 of windows-1252


def unescape(text: str, *, attribute: bool = False) -> str:
    """Return the text with its character references replaced, as HTML says; any other "&" stays.

    In an attribute a name without ";" before a letter, digit or "=" is no reference: `?a=1&copy=2`.
    """
    if "&" not in text:
        return text
    pieces = text.split("&")
    for i in range(1, len(pieces)):
        piece = pieces[i]
        if piece[:1] == "#":
            pieces[i] = _number(piece)
        elif piece[:1].isalpha():
            pieces[i] = _name(piece, attribute)
        else:
            pieces[i] = "&" + piece
    return "".join(pieces)


def _number(piece: str) -> str:
    """Replace a reference by number at the start of a piece."""
    base, digits, start = (16, _HEXADECIMAL, 2) if piece[1:2] in ("x", "X") else (10, _DECIMAL, 1)
    body = piece[start:]
    rest = body.lstrip(digits)
    number = body[: len(body) - len(rest)]
    if not number:
        return "&" + piece
    number = number.lstrip("0")
    # Eight digits are no character's number; of thousands, int() would be slow or refuse.
    letter = _letter(int(number or "0", base)) if len(number) < 8 else _UNKNOWN
    return letter + rest.removeprefix(";")


def _letter(code: int) -> str:
    """Return the character of a number, as browsers do."""
    if 0x80 <= code < 0xA0:  # authors mean what windows-1252 has there
        return _WINDOWS[code - 0x80]
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return _UNKNOWN
    return chr(code)


def _name(piece: str, attribute: bool) -> str:
    """Replace a reference by name at the start of a piece."""
    end = piece.find(";", 0, LONGEST_NAME)
    if end > 0:
        letter = _named(piece[:end])
        if letter:
            return letter + piece[end + 1 :]
    for length in range(min(LONGEST_BARE_NAME, len(piece)), 1, -1):
        letter = _BARE.get(piece[:length], "")
        if letter:
            after = piece[length : length + 1]
            if attribute and (after == "=" or after.isalnum()):
                break
            return letter + piece[length:]
    return "&" + piece


def _named(name: str) -> str:
    letter = _NAMED.get(name, "")
    if not letter and name.isalnum() and name.isascii():
        # Late: `html` costs 12 ms, and one page in some hundreds has such a name.
        from html.entities import html5

        letter = html5.get(name + ";", "")
    return letter
