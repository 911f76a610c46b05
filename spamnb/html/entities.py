"""Character references: `&eacute;`, `&#233;` and `&#xE9;` become the letters they stand for.

The standard library's `html` brings `re` and costs 12 ms to import, about what a whole delivery may take.
The table here holds the names that mail uses; any other stays as it is.
"""

from __future__ import annotations

LONGEST_NAME = 31  # letters

_LATIN_1 = (
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 "
    "sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc "
    "Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve "
    "Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute "
    "acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde "
    "ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
)
_OTHERS = (
    "apos ' OElig Œ oelig œ Scaron Š scaron š ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” "
    "bdquo „ bull • hellip … prime ′ lsaquo ‹ rsaquo › euro € trade ™ larr ← rarr → minus − infin ∞ le ≤ "
    "ge ≥ hearts ♥ equiv ≡ zwnj \u200c zwj \u200d lrm \u200e rlm \u200f"
)
# _BARE: names that HTML accepts without ";". _NAMED: all names of this table.
_BARE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "AMP": "&", "LT": "<", "GT": ">", "QUOT": '"'}
_BARE |= {"COPY": "\xa9", "REG": "\xae"}
_BARE.update(zip(_LATIN_1.split(), map(chr, range(0xA0, 0x100)), strict=True))
_NAMED = {**_BARE, **dict.fromkeys(("ensp", "emsp", "thinsp"), " ")}
_NAMED.update(zip(_OTHERS.split()[::2], _OTHERS.split()[1::2], strict=True))

_UNKNOWN = "\ufffd"
_BEYOND = 0x110000  # the number after the last character's
_WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"  # characters 128 to 159 of windows-1252


def unescape(text: str, attribute: bool = False) -> str:
    """Return the text with its character references replaced, as HTML says; any other "&" stays.

    In an attribute a name without ";" before "=" is no reference: `?a=1&copy=2`.
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
        letter = _NAMED.get(text[first:word_end], "")
        if letter:
            pieces.append(letter)
            return word_end + 1
    letter = _BARE.get(text[first:word_end], "")
    if not letter or (attribute and char == "="):
        return start
    pieces.append(letter)
    return word_end


def _is_alphanumeric(char: str) -> bool:
    return "a" <= char <= "z" or "A" <= char <= "Z" or "0" <= char <= "9"
