"""Charsets that are not declared, or not truly: found by the bytes themselves.

In each charset bytes have a cost: minus the logarithm of their probability, by how often letters follow each
other in a language written in it. The lowest cost wins: naive Bayes, with charsets for labels. A charset that
the message names costs less. Costs are whole numbers, so that the same is found on every machine.
"""

from __future__ import annotations

from codecs import utf_8_decode

from spamnb.reading.encodings.charsets import MULTI_BYTE, STATEFUL, TWO_BYTES, by_codec, is_utf8, names_in
from spamnb.reading.encodings.letter_tables import CHARSETS, IDEOGRAPHS, LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.encodings.charsets import Around

ASCII = bytes(range(128))
# Marks that are the same in all of Windows' charsets.
ASCII_AND_MARKS = ASCII + b"\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa9\xae"
PIECE, PIECES = 256, 16  # bytes of a piece; pieces looked at, without those that are all ASCII
SAMPLE = 512  # bytes of these that are counted
SHORT = 40  # bytes that may be UTF-8 by chance
FEW = 8  # of so many characters, one may be wrong
NAMED_IN = 64 * 1024  # bytes of a message in which it may name charsets

NAT = 4  # costs are counted in quarters of a nat
FIRST = 35  # the character that stands for cost 0 in the tables
# What a charset costs less that is declared, that the text itself names, that the message names elsewhere.
DECLARED, IN_TEXT, NEARBY = 80 * NAT, 30 * NAT, 12 * NAT
WESTERN_LESS = 16  # times less for what programs name unasked
FEW_LETTERS = 1  # bytes above 0x7f: so few do not speak against a charset that they fit

# Classes of characters in the tables: behind BETWEEN come ASCII letters, behind OTHER the language's own.
BETWEEN, OTHER = 0, 27
A_MARK, A_RARE_MARK, AN_OTHER, UNDEFINED = 4 * NAT, 10 * NAT, 5 * NAT, 12 * NAT  # which one of its class
COST_OF_KIND = bytes.maketrans(b"sC.,-", bytes((AN_OTHER, AN_OTHER, A_MARK, A_RARE_MARK, UNDEFINED)))
CAPITAL = ord("C")
# A capital behind what is no letter, a small letter, a capital; a small letter behind a capital.
FIRST_CAPITAL, INNER_CAPITAL, NEXT_CAPITAL, AFTER_CAPITAL = 6, 5 * NAT, 3, 1
OTHER_SCRIPT = 3 * NAT  # a letter of another script than the one before
RARE = 12 * NAT  # an ideograph that is none of the frequent ones
HIGH_LETTER, ASCII_LETTER = 18, 10  # letters cost less on average; ideographs taken for letters, more
WESTERN_LETTER = 106  # tenths: Western text costs less a byte; of 1,600 texts that only say so, none did
SIGN_BEHIND, LETTER_BEHIND = 3 * NAT, 6 * NAT  # ASCII behind an ideograph
ASCII_LANGUAGE = "en"  # by which ASCII beside ideographs is counted

WESTERN, CENTRAL, BALTIC = "en de fr es pt it nl sv da nb fi is ca", "pl cs sk hu sl hr ro", "lt lv et"
CYRILLIC, RUSSIAN = "ru uk bg sr be mk", "ru uk"
ASCII_CLASSES = bytes(65) + bytes(range(1, 27)) + bytes(6) + bytes(range(1, 27)) + bytes(5)
# Charsets, the languages they are for, and the cost of being rare in mail.
CANDIDATES = {
    "cp1252": (WESTERN, 0),
    "cp1250": (CENTRAL, 10),
    "iso8859_15": ("fr fi", 4),
    "iso8859_2": (CENTRAL, 12),
    "cp1254": ("tr", 12),
    "cp1257": (BALTIC, 20),
    "iso8859_4": (BALTIC, 28),
    "iso8859_13": (BALTIC, 24),
    "cp1258": ("vi", 20),
    "cp1251": (CYRILLIC, 8),
    "koi8_u": (RUSSIAN, 10),
    "iso8859_5": (CYRILLIC, 20),
    "cp866": (RUSSIAN, 24),
    "mac_cyrillic": (RUSSIAN, 32),
    "cp1253": ("el", 12),
    "iso8859_7": ("el", 20),
    "cp1255": ("he", 12),
    "cp1256": ("ar fa", 16),
    "iso8859_6": ("ar", 20),
    "cp874": ("th", 16),
    "gb18030": ("zh-Hans", 6),
    "big5hkscs": ("zh-Hant", 8),
    "cp932": ("ja", 10),
    "euc_jp": ("ja", 14),
    "cp949": ("ko", 10),
}
# Looked at only where the message names them: too much like others.
IF_NAMED = {
    "koi8_r": (RUSSIAN, 10),
    "iso8859_8": ("he", 12),
    "mac_roman": (WESTERN, 20),
    "cp950": ("zh-Hant", 8),
}
GUESSED = CANDIDATES | IF_NAMED
MOST = 1 << 30
WESTERN_CHARSETS = frozenset(("cp1252", "iso8859_15", "mac_roman"))
ONLY_IN_15 = frozenset(b"\xa4\xa6\xa8\xb4\xb8\xbc\xbd\xbe")  # letters in ISO-8859-15, marks in windows-1252
NOT_LATIN = frozenset("ru uk bg sr be mk el he ar fa th".split())
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf_8"),
    (b"\xff\xfe\0\0", "utf_32"),
    (b"\0\0\xfe\xff", "utf_32"),
    (b"\xff\xfe", "utf_16"),
    (b"\xfe\xff", "utf_16"),
)
ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$", "iso2022_jp_2"), (b"\x1b(", "iso2022_jp_ext"))


def find(data: bytes, declared: str, around: Around | None = None) -> tuple[str, str]:
    """Return the codec of bytes that are not plain ASCII, and why it is not the declared one.

    `around` is the message that they are from: it may name charsets elsewhere.
    """
    name, why = _marked(data)
    if declared in TWO_BYTES and b"\0" in data:
        return declared, ""
    if name:
        return (declared, "") if name[:6] == declared[:6] else (name, why)
    if data.isascii():
        is_seven_bit = declared in STATEFUL and declared not in TWO_BYTES
        return (declared, "") if is_seven_bit else ("ascii", "it is ASCII")
    if declared in ("", "cp1252") and not data.translate(None, ASCII_AND_MARKS):
        return "cp1252", "" if declared else "found by its bytes"
    sample = sample_of(without_tags(data[:NAMED_IN]) if b"<" in data else data)
    if (is_utf8(data) or _is_nearly_utf8(sample)) and not (
        declared in MULTI_BYTE and len(data) <= SHORT and _fits(data, declared)
    ):
        return "utf_8", "" if declared == "utf_8" else "it is UTF-8"
    is_open = declared in GUESSED and len(sample.translate(None, ASCII)) > FEW_LETTERS
    if declared and not is_open and _fits(sample, declared):
        return declared, ""
    return _cheapest(sample, declared, data, around)


def _marked(data: bytes) -> tuple[str, str]:
    """Return the codec of bytes with a byte order mark, with ISO-2022's escapes or with UTF-16's zeros."""
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return name, "byte order mark"
    if b"\x1b" in data and data.isascii():
        for escape, name in ESCAPES:
            if escape in data:
                return name, "escapes"
    zeros = data[:SAMPLE]
    big, little = zeros[::2].count(0), zeros[1::2].count(0)
    if max(big, little) * 4 > len(zeros) > 8 and min(big, little) * 8 < max(big, little):
        return ("utf_16_be" if big > little else "utf_16_le"), "zeros between the letters"
    return "", ""


def without_tags(data: bytes) -> bytes:
    """Return the text between the tags of a page: the letters of tags are of no language."""
    text, *pieces = data.decode("latin-1").split("<")  # compiled, str is faster
    return " ".join([text, *[piece[piece.find(">") + 1 :] for piece in pieces]]).encode("latin-1")


def sample_of(data: bytes) -> bytes:
    """Return the first words that are not all ASCII, and their neighbours: others may be English."""
    pieces = []
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        if not piece.isascii():
            pieces.append(piece)
            if len(pieces) == PIECES:
                break
    near: list[bytes] = []
    size, was_high, before = 0, False, b""
    for word in b"".join(pieces).split():
        is_high = not word.isascii()
        if is_high and before:
            near.append(before)
            size += len(before) + 1
        if is_high or was_high:
            near.append(word)
            size += len(word) + 1
        if size > SAMPLE:
            break
        before = b"" if is_high or was_high else word
        was_high = is_high
    return b" ".join(near)[:SAMPLE]


def _is_nearly_utf8(sample: bytes) -> bool:
    text = utf_8_decode(sample, "replace", False)[0]  # the last character may be cut
    wrong = text.count("\ufffd")
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    return right > 0 and wrong * FEW <= right


def _fits(data: bytes, name: str) -> bool:
    """Tell whether few bytes are none of a charset's characters."""
    text = by_codec(data, name)
    strange = [char for char in text if char > "\x7f" and (char < "\xa0" or char == "\ufffd")]
    return len(strange) * FEW <= len(text) - len(text.encode("ascii", "ignore"))


def _cheapest(sample: bytes, declared: str, data: bytes, around: Around | None) -> tuple[str, str]:
    """Return the charset in which a sample costs least, and why it is not the declared one."""
    high = len(sample.translate(None, ASCII))
    as_letters = HIGH_LETTER * high + ASCII_LETTER * (len(sample) - high) if high * 2 > len(sample) else 0
    usual, plainly = declared if declared in GUESSED else "cp1252", as_letters
    if usual in WESTERN_CHARSETS and not as_letters and len(sample) > SHORT:
        plainly = WESTERN_LETTER * len(sample) // 10
    if (usual == declared or not ONLY_IN_15.intersection(sample)) and _cost(sample, usual, plainly) < plainly:
        return usual, "" if usual == declared else "found by its bytes"  # no other need be looked at
    named = dict.fromkeys(_names_around(around), NEARBY)
    named |= dict.fromkeys(names_in(data[:NAMED_IN]), IN_TEXT)
    named[declared] = DECLARED
    pairs = _double_bytes(sample)
    best, least = "cp1252", MOST
    for name in GUESSED:
        discount = named.get(name, 0) // (WESTERN_LESS if name in WESTERN_CHARSETS else 1)
        if not discount and name in IF_NAMED:
            continue
        if not discount and name in MULTI_BYTE and (least < as_letters or not _may_be(sample, name, pairs)):
            continue
        cost = _cost(sample, name, least + discount) - discount
        if cost < least:
            best, least = name, cost
    if best != usual and by_codec(sample, usual) == by_codec(sample, best):  # only marks, say, that both have
        best = usual
    reasons = {DECLARED: "", IN_TEXT: "named in the text", NEARBY: "named in the message"}
    return best, reasons.get(named.get(best, 0), "found by its bytes")


def _names_around(around: Around | None) -> list[str]:
    """Return the codecs of the charsets that a message names, sought once."""
    if around is None:
        return []
    if around.names is None:
        around.names = names_in(around.data[:NAMED_IN])
    return around.names


def _cost(sample: bytes, name: str, most: int) -> int:
    """Return what a sample costs in a charset, in the language that suits it best; `most` if not less."""
    languages, rarity = GUESSED[name]
    most -= rarity
    if name in MULTI_BYTE:
        return _cost_of_ideographs(sample, name, languages, most) + rarity
    kinds, classes_in = CHARSETS[name]
    for language, classes in classes_in.items():
        most = _cost_of_letters(sample, language, kinds, classes, most)
    return most + rarity


def _double_bytes(sample: bytes) -> tuple[int, int, int]:
    """Count the pairs of bytes if they were double: all, those that none can be, those that end in ASCII."""
    pairs = wrong = low = 0
    lead = False
    for byte in sample:
        if lead:
            lead = False
            pairs += 1
            wrong += byte < 64
            low += 64 <= byte < 128
        elif byte > 127:
            lead = True
    return pairs, wrong, low


def _may_be(sample: bytes, name: str, counts: tuple[int, int, int]) -> bool:
    """Tell whether it is worth a millisecond to load a codec of double bytes."""
    pairs, wrong, low = counts
    if wrong * FEW > pairs:
        return False
    if pairs <= SHORT // 2:
        return True
    if name == "big5hkscs":
        return low * FEW > pairs
    if name == "euc_jp":
        return b"\xa4" in sample
    return name != "cp932" or b"\x82" in sample


def _cost_of_letters(sample: bytes, language: str, kinds: bytes, classes: bytes, most: int) -> int:
    """Return what a sample costs as text of a language in a charset of single bytes; `most` if not less.

    `kinds` and `classes` say what stands in the upper half of the charset.
    """
    letters, table = LETTERS[language]
    width = OTHER + 1 + len(letters)
    mixes = language in NOT_LATIN
    cost = before = script = 0
    was_capital = was_high = False
    for byte in sample:
        is_high = byte > 127
        if is_high:
            kind, now = kinds[byte - 128], classes[byte - 128]
            is_capital = kind == CAPITAL
            if now <= OTHER:
                cost += COST_OF_KIND[kind]
        else:
            now, is_capital = ASCII_CLASSES[byte], 65 <= byte <= 90
        cost += table[before * width + now] - FIRST
        if is_high or was_high:
            if is_capital:
                cost += FIRST_CAPITAL if before == BETWEEN else NEXT_CAPITAL if was_capital else INNER_CAPITAL
            elif was_capital and now:
                cost += AFTER_CAPITAL
        if mixes and now:
            here = 2 if now >= OTHER else 1
            if script and script != here:
                cost += OTHER_SCRIPT
            script = here
        if cost >= most:
            return most
        before, was_capital, was_high = now, is_capital, is_high
    return cost


def _cost_of_ideographs(sample: bytes, name: str, language: str, most: int) -> int:
    """Return what a sample costs as text of a language with ideographs; `most` if not less."""
    frequent, costs = IDEOGRAPHS[language]
    letters, table = LETTERS[ASCII_LANGUAGE]
    width = OTHER + 1 + len(letters)
    cost = before = script = 0
    was_ideograph = False
    for char in sample.decode(name, "replace"):
        if char > "\x7f":
            rank = frequent.find(char)
            cost += costs[rank] - FIRST if rank >= 0 else RARE
            if char == "\ufffd" or "\ue000" <= char <= "\uf8ff":  # nothing, or for private use
                cost += UNDEFINED
            now, was_ideograph, here = BETWEEN, True, 2 if char.isalpha() else 0
        else:
            now = ASCII_CLASSES[ord(char)]
            cost += (
                LETTER_BEHIND
                if was_ideograph and now
                else SIGN_BEHIND
                if was_ideograph
                else table[before * width + now] - FIRST
            )
            was_ideograph, here = False, 1 if now else 0
        if here:
            if script and script != here:
                cost += OTHER_SCRIPT
            script = here
        if cost >= most:
            return most
        before = now
    return cost
