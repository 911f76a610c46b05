"""Recognise files among mail that are not mail: archives, Thunderbird's own files, pictures.

The first bytes decide. Bytes that a message may also begin with are decisive only together with the file's
extension. A file that begins with a header field is mail, whatever follows; so is plain text: it is all body.
"""

from __future__ import annotations

ARCHIVES = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # an empty one
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
)
ARCHIVE = "archive; unpack it first, and name the unpacked files"
MORK = b"// <!-- <mdb:mork:z v="
INDEX = "Thunderbird's index of a mailbox; name the mailbox beside it instead"
SETTINGS = "Thunderbird's settings, not mail; name the mailboxes beside it instead"
SETTINGS_STARTS = (
    MORK,  # panacea.dat, abook.mab
    b'version="',  # msgFilterRules.dat
    b"version=1",  # virtualFolders.dat
    b"# POP3 State File",  # popstate.dat
    b"\xfe\xed\xfa\xce",  # training.dat
)
# Text files of a profile, recognised by their names: no other program's mail is called so.
PROFILE = frozenset("filterlog.html junklog.html feeds.rdf feeditems.rdf prefs.js user.js".split())
BINARY = "a binary file"
PDF = b"%PDF-"  # it may begin with text; programs, pictures and sound have a NUL near their start
# Control characters that no text has: all but those of tabs, lines and pages; ESC, SO and SI, which change
# character sets (ISO-2022-JP, -KR); BEL, BS and the DOS end of file.
CONTROLS = bytes({*range(32), 127} - {*b"\a\b\t\n\v\f\r\x0e\x0f\x1a\x1b"})
MAX_CONTROLS, MAX_CONTROL_SHARE = (
    2,
    0.02,
)  # how many, and what share, a text may have; random bytes have 0.086
MAX_FIELD_NAME = 100  # bytes searched for the colon behind the name of the first header field
LOOK = 1000  # bytes
TAR, TAR_AT = b"ustar", 257


def not_mail(path: str, head: bytes) -> str:
    """Return what a file with this `head` is, if it is not mail, and what to do; "" if it may be mail.

    >>> not_mail("mail.bak", b"7z\\xbc\\xaf\\x27\\x1c\\0\\4")
    'a 7z archive; unpack it first, and name the unpacked files'
    """
    for start, kind in ARCHIVES:
        if head.startswith(start):
            return f"a {kind} {ARCHIVE}"
    if head.startswith(TAR, TAR_AT) and b"\0" in head[:TAR_AT]:
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
    """Return "a binary file" if a file with this `head` clearly is not a message; otherwise return "".

    >>> no_message(b"\\0"), no_message(b"[Subject] hello"), no_message(b"a: \\0")
    ('a binary file', '', '')
    """
    head = head[:LOOK]
    if _begins_with_field(head):
        return ""
    controls = len(head) - len(head.translate(None, CONTROLS))
    if head.startswith(PDF) or b"\0" in head or controls > max(MAX_CONTROLS, MAX_CONTROL_SHARE * len(head)):
        return BINARY
    return ""


def _begins_with_field(head: bytes) -> bool:
    name, colon, _ = head[:MAX_FIELD_NAME].partition(b":")
    return bool(colon) and name.isascii() and name.decode().isprintable() and b" " not in name
