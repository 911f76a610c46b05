"""Charsets by name: which of Python's codecs stands for each, and text decoded by it.

Only the codecs named here are ever looked up: a charset comes from a stranger, and Python's registry also
holds codecs that are not charsets (base64, zlib), take quadratic time (punycode, idna) or interpret escapes.
"""

from __future__ import annotations

from codecs import charmap_decode
from encodings.aliases import aliases  # already loaded by the interpreter: costs nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Around(Protocol):  # Surroundings of `headers`, which loads this module
        data: bytes
        finds_left: int
        names: list[str] | None


MOST_NAMES = 20  # that are looked at in a text, of each kind
MAX_NAME = 64  # characters; the longest registered charset name has 45

SINGLE_BYTE = frozenset(
    """
    ascii latin_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10
    iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620
    cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866
    cp869 cp874 cp1006 cp1125 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek mac_iceland mac_latin2 mac_roman mac_romanian
    mac_turkish
    """.split()
)
MULTI_BYTE = frozenset(
    """
    utf_8 big5 big5hkscs cp932 cp949 cp950 euc_jp euc_jis_2004 euc_jisx0213 euc_kr gb2312 gbk gb18030 johab
    shift_jis shift_jis_2004 shift_jisx0213
    """.split()
)
# In these, bytes below 0x80 are not simply ASCII.
STATEFUL = frozenset(
    """
    utf_7 utf_8_sig utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le hz
    iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr
    """.split()
)
TWO_BYTES = frozenset(name for name in STATEFUL if name[:6] in ("utf_16", "utf_32"))
KNOWN = SINGLE_BYTE | MULTI_BYTE | STATEFUL

# As browsers do: senders name the old charset and mean the superset that their system really uses.
SUPERSETS = {
    "ascii": "",  # says nothing about bytes above 0x7f: they are guessed
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Names seen in mail that Python does not know.
MORE_ALIASES = {
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "iso_8859_6_i": "iso8859_6",
    "iso_8859_6_e": "iso8859_6",
    "unicode_1_1_utf_7": "utf_7",
    "unicode_1_1_utf_8": "utf_8",
    "gb_2312_80": "gb2312",
    "chinesebig5": "big5",
    "sjis": "shift_jis",
    "windows_31j": "cp932",
    "windows_874": "cp874",
    "mac": "mac_roman",
}
ALL_BYTES = bytes(range(256))
NOT_C1 = ALL_BYTES[:0x80] + ALL_BYTES[0xA0:]
MAX_KEPT = 500  # names of charsets whose codecs are remembered
FEW = 8  # different bytes that are replaced one by one faster than all by a table
NAME_ENDS = bytes(byte if chr(byte).isalnum() or byte in b"-_.:" else 32 for byte in range(256))
ASCII_ONLY = ALL_BYTES[:128] + b"?" * 128


def codec(declared: str) -> str:
    """Return Python's name of the codec for a declared charset; "" if it has to be guessed."""
    name = _codecs.get(declared)
    if name is None:
        name = _find_codec(declared)
        if len(_codecs) < MAX_KEPT and len(declared) <= MAX_NAME:
            _codecs[declared] = name
    return name


_codecs: dict[str, str] = {}  # by name as declared


def _find_codec(declared: str) -> str:
    if not declared or len(declared) > MAX_NAME or not declared.isascii():
        return ""
    words = "".join([c if c.isalnum() else " " for c in declared.lower()]).split()
    name = "_".join(words[1:] if words[:1] == ["x"] else words)
    name = MORE_ALIASES.get(name) or aliases.get(name, name)
    return SUPERSETS.get(name, name) if name in KNOWN else ""


def by_codec(data: bytes, name: str) -> str:
    """Decode bytes by a codec; what is none of its characters is replaced."""
    if name == "utf_7":
        # Bytes above 0x7f are errors, at 380 ms a MiB. Lone surrogates, which nothing encodes, are replaced.
        text = data.translate(ASCII_ONLY).decode(name, "replace")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if name in MULTI_BYTE or name in STATEFUL or data.isascii():
        try:
            return data.decode(name, "replace")
        except RuntimeError:  # iso2022_jp_2 fails where ESC N calls for a set of letters that it lacks
            return data.replace(b"\x1bN", b"?").decode(name, "replace")
    if name == "cp1252" and len(special := set(data.translate(None, NOT_C1))) <= FEW:
        text = data.decode("latin-1")  # the same but for 32 bytes
        for byte in special:
            text = text.replace(chr(byte), _characters(name)[byte])
        return text
    # errors="replace" calls back at each undefined byte: 380 ms for a MiB of them. A full table takes 5 ms.
    return charmap_decode(data, "strict", _characters(name))[0]


def _characters(name: str) -> str:
    """Return what each byte stands for in a charset of single bytes."""
    if name not in _tables:
        _tables[name] = ALL_BYTES.decode(name, "replace")
    return _tables[name]


_tables: dict[str, str] = {}  # by codec


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def names_in(data: bytes) -> list[str]:
    """Return the codecs of the charsets that bytes name: charset=…, encoding="…" and =?…?"""
    lower = data.lower()
    names = []
    for mark in (b"charset=", b"encoding=", b"=?"):
        for found in lower.split(mark, MOST_NAMES)[1:]:
            name = found[:MAX_NAME].translate(NAME_ENDS).split(None, 1)
            if name:
                names.append(codec(name[0].decode("latin-1")))
    return names
