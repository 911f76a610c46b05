"""Files that lie among mail and hold none: archives, what Thunderbird keeps beside it, pictures, data.

Their first bytes tell. Bytes that could also begin a message count only with the ending of the name. What
begins with a header field is mail, whatever comes then; so is a text without one, as it is all body.
"""

from __future__ import annotations

ARCHIVES = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # an empty one
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
)
ARCHIVE = "archive; unpack it first, and name what was in it"
MORK = b"// <!-- <mdb:mork:z v="
INDEX = "Thunderbird's index of a mailbox; name the mailbox beside it"
SETTINGS = "Thunderbird's own, and no mail; name the mailboxes beside it"
SETTINGS_STARTS = (
    MORK,  # panacea.dat, abook.mab
    b'version="',  # msgFilterRules.dat
    b"version=1",  # virtualFolders.dat
    b"# POP3 State File",  # popstate.dat
    b"\xfe\xed\xfa\xce",  # training.dat
)
# Texts of a profile, some beside its mailboxes; of no other program's mail, so their names tell.
PROFILE = frozenset(
    "filterlog.html junklog.html feeds.rdf feeditems.rdf prefs.js user.js compatibility.ini extensions.ini "
    "blocklist.xml pkcs11.txt cert_override.txt".split()
)
BINARY = "a binary file"
JSON = "JSON"
PDF = b"%PDF-"  # which may begin with text; programs, pictures, sound have a NUL near their start
# Control characters that are in no text: not those of tabs, lines and pages, nor ESC, SO and SI, which change
# character sets (ISO-2022-JP, -KR), nor BEL, BS and the DOS end of file.
NO_TEXT = bytes({*range(32), 127} - {*b"\a\b\t\n\v\f\r\x0e\x0f\x1a\x1b"})
FEW_NO_TEXT, MOST_NO_TEXT = 2, 0.02  # how many, and what share, a text may have; random bytes have 0.086
MAX_FIELD_NAME = 100  # bytes searched for the colon behind the name of the first header field
LOOK = 1000  # bytes
TAR_HEADER = 512  # bytes
TAR_CHECKSUM = slice(148, 156)


def not_mail(path: str, head: bytes) -> str:
    """Say what a file that begins with `head` is, and what to do about it; "" if it may be mail.

    >>> not_mail("mail.bak", b"7z\\xbc\\xaf\\x27\\x1c\\0\\4")
    'a 7z archive; unpack it first, and name what was in it'
    """
    for start, kind in ARCHIVES:
        if head.startswith(start):
            return f"a {kind} {ARCHIVE}"
    if _is_tar(head):
        return f"a tar {ARCHIVE}"
    ending = path[-4:].lower()
    if ending == ".msf" and head.startswith(MORK):
        return INDEX
    if ending in (".dat", ".mab") and head.startswith(SETTINGS_STARTS):
        return SETTINGS
    if path.rpartition("/")[2].lower() in PROFILE and not _begins_with_field(head):
        return SETTINGS
    return ""


def no_message(head: bytes) -> str:
    """Say what a file that begins with `head` is, if it is met among mail and plainly is no message; else "".

    >>> no_message(b'{"name": "spamnb"}'), no_message(b"[Subject] hello"), no_message(b"a: \\0")
    ('JSON', '', '')
    """
    head = head[:LOOK]
    if _is_json(head):
        return JSON
    if _begins_with_field(head):
        return ""
    no_text = len(head) - len(head.translate(None, NO_TEXT))
    if head.startswith(PDF) or b"\0" in head or no_text > max(FEW_NO_TEXT, MOST_NO_TEXT * len(head)):
        return BINARY
    return ""


def _begins_with_field(head: bytes) -> bool:
    """Whether it begins with a header field."""
    name, colon, _ = head[:MAX_FIELD_NAME].partition(b":")
    return bool(colon) and name.isascii() and name.decode().isprintable() and b" " not in name


def _is_json(head: bytes) -> bool:
    """Whether it begins as an object or an array of values, no text in brackets."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while start.startswith(b"["):
        start = start[1:].lstrip()
        if start.startswith(b'"'):
            return _after_string(start).startswith((b",", b"]"))
    return start.startswith(b"{") and _after_string(start[1:].lstrip()).startswith(b":")


def _after_string(text: bytes) -> bytes:
    """What follows a string in quotes; nothing if there is none."""
    return text[1:].partition(b'"')[2].lstrip() if text.startswith(b'"') else b""


def _is_tar(head: bytes) -> bool:
    """Whether the checksum, whose own field counts as spaces, is right: old tars have no magic number."""
    header = head[:TAR_HEADER]
    digits = header[TAR_CHECKSUM].strip(b"\0 ")
    if len(header) < TAR_HEADER or b"\0" not in header or not digits.isdigit() or digits.strip(b"01234567"):
        return False
    return sum(header) - sum(header[TAR_CHECKSUM]) + 8 * ord(" ") == int(digits, 8)
