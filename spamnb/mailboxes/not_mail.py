"""Files that lie among mail and hold none that could be read: archives, and what Thunderbird keeps beside it.

Their first bytes tell. Bytes that could also begin a message count only with the ending of the name.
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
    MORK,  # panacea.dat
    b'version="',  # msgFilterRules.dat
    b"version=1",  # virtualFolders.dat
    b"# POP3 State File",  # popstate.dat
    b"\xfe\xed\xfa\xce",  # training.dat
)
TAR_HEADER = 512  # bytes
TAR_CHECKSUM = slice(148, 156)
# Name endings of such files. Other remote files are not checked: to read their first bytes costs a request.
SUSPECT_ENDINGS = (".zip", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".msf", ".dat")


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
    if ending == ".dat" and head.startswith(SETTINGS_STARTS):
        return SETTINGS
    return ""


def _is_tar(head: bytes) -> bool:
    """Whether the checksum, whose own field counts as spaces, is right: old tars have no magic number."""
    header = head[:TAR_HEADER]
    digits = header[TAR_CHECKSUM].strip(b"\0 ")
    if len(header) < TAR_HEADER or b"\0" not in header or not digits.isdigit() or digits.strip(b"01234567"):
        return False
    return sum(header) - sum(header[TAR_CHECKSUM]) + 8 * ord(" ") == int(digits, 8)
