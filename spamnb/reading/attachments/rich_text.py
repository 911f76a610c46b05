"""Text of RTF files."""

from __future__ import annotations

import re

from spamnb.reading.attachments.contents import Content

MAX_PIECES = 100_000  # words of control, groups and runs of text
MAX_DEPTH = 1000  # of groups

_PIECE = re.compile(
    rb"\\'([0-9A-Fa-f]{2})|\\([A-Za-z]{1,32})(-?\d{1,9})? ?|\\([^A-Za-z])|([{}])|([^\\{}\r\n]++)", re.DOTALL
)
_LEFT_OUT = frozenset(
    b"fonttbl colortbl stylesheet info pict object header footer generator themedata datastore latentstyles "
    b"listtable listoverridetable rsidtbl xmlnstbl mmathPr colorschememapping objdata".split()
)
_BREAKS = frozenset(b"par line tab cell row sect page fldinst fldrslt".split())


def read_rtf(data: bytes) -> Content:
    """Read the text of an RTF file; its links stand in it."""
    out: list[str] = []
    hidden_from = 0  # depth of the outermost group that is left out; 0: none
    depth = skip = 0
    starred = False  # behind \\*, which begins a group for those who know it
    for count, one in enumerate(_PIECE.finditer(data)):
        if count >= MAX_PIECES or depth > MAX_DEPTH:
            break
        which = one.lastindex
        if which == 5:
            depth += 1 if one[5] == b"{" else -1
            if depth < hidden_from:
                hidden_from = 0
            continue
        word = one[2]
        if not hidden_from and (word in _LEFT_OUT or (starred and word and word != b"fldinst")):
            hidden_from = max(1, depth)
        starred = one[4] == b"*"
        if hidden_from:
            continue
        if word == b"u" and one[3]:
            code = int(one[3]) & 0xFFFF
            out.append(chr(code) if not 0xD800 <= code < 0xE000 else "")
            skip = 1  # the letter for who knows no Unicode
        elif word:
            out.append("\n" if word in _BREAKS else "")
        elif one[4]:
            out.append(" " if one[4] == b"~" else one[4].decode("latin-1") if one[4] in b"\\{}" else "")
        else:
            text = (bytes.fromhex(one[1].decode()) if one[1] else one[6]).decode("cp1252", "replace")
            out.append(text[skip:])
            skip = 0
    return Content("".join(out))
