"""ZIP archives: the names of the files in them or, if an archive is an Office document, its text.

The archive's directory is read here, not by `zipfile`, which makes objects of all entries (up to 65,535)
before it returns, and refuses archives with errors that other programs ignore.
"""

from __future__ import annotations

from spamnb.reading.attachments.contents import MAX_MEMBERS, Allowance, Content

MAX_NAME = 200  # bytes of the name of a member that are read
TAIL = 65_557  # bytes at the end that the last record of an archive lies in
UNKNOWN = 0xFFFFFFFF  # size of a member that is written elsewhere
MAX_TARGET = 500  # characters of a link
# Steps of `contents`: of a member of the directory, and of one that is read.
STEPS_OF_MEMBER, STEPS_OF_DOCUMENT = 3, 30
TARGETS_A_STEP, TAGS_A_STEP = 2, 10

# By how the name of a member starts and ends: where the text of Office documents and OpenDocument stands.
DOCUMENTS = (
    ("word/document", ".xml"),
    ("word/footnotes", ".xml"),
    ("xl/sharedstrings", ".xml"),
    ("xl/worksheets/sheet", ".xml"),
    ("ppt/slides/slide", ".xml"),
    ("content", ".xml"),
)
BREAKS = (b"</w:p>", b"</a:p>", b"</si>", b"</is>", b"</text:p>", b"</text:h>", b"<w:br/>", b"<w:tab/>")
TARGET = 'Target="'


class Member:
    """A file in an archive, as described by the archive's directory or by the header before the file."""

    def __init__(self, name: str, encrypted: bool, method: int, size: int, offset: int) -> None:
        self.name = name
        self.encrypted = encrypted
        self.method = method  # 0 stored, 8 deflated
        self.size = size  # compressed
        self.offset = offset  # of its local header


def read_zip(data: bytes, allowance: Allowance) -> Content:
    """Read the names of the files in an archive or, if it is an Office document, its text and links."""
    content = Content()
    members = directory(data, allowance) or local_members(data, allowance)
    lower = [member.name.lower() for member in members]
    if overlap(members) or ("[content_types].xml" not in lower and "mimetype" not in lower):
        content.names = [member.name for member in members]
        return content
    texts = []
    for name, member in zip(lower, members, strict=True):
        is_text = any(name.startswith(start) and name.endswith(end) for start, end in DOCUMENTS)
        if allowance.work <= 0 or not (is_text or name.endswith(".rels")):
            continue
        allowance.work -= STEPS_OF_DOCUMENT
        source = unpacked(data, member, allowance)
        if name.startswith("xl/worksheets/") and b"inlineStr" not in source:
            continue  # numbers
        if is_text:
            texts.append(text_of(source, allowance))
        else:
            content.links += targets(source, allowance)[: allowance.links - len(content.links)]
    content.text = "\n".join(texts)
    return content


def overlap(members: list[Member]) -> bool:
    """Return whether two files in an archive have bytes in common, which no normal archive has."""
    end = 0
    for member in sorted(members, key=lambda member: member.offset):
        if member.offset < end:
            return True
        end = member.offset + 30 + member.size
    return False


def number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def directory(data: bytes, allowance: Allowance) -> list[Member]:
    """Return the files that the directory at the end of an archive lists; [] if there is no directory."""
    last = data.rfind(b"PK\x05\x06", max(0, len(data) - TAIL))
    if last < 0:
        return []
    start = last - number(data, last + 12, 4)  # whatever was put before the archive
    members: list[Member] = []
    at = start if start >= 0 else number(data, last + 16, 4)
    while len(members) < MAX_MEMBERS and allowance.work > 0 and data.startswith(b"PK\x01\x02", at):
        name_size, extra, comment = (number(data, at + field, 2) for field in (28, 30, 32))
        members.append(member_at(data, at + 8, at + 46, name_size, number(data, at + 42, 4), allowance))
        at += 46 + name_size + extra + comment
    return members


def local_members(data: bytes, allowance: Allowance) -> list[Member]:
    """Return the files of an archive without a directory, by the header in front of each file."""
    members: list[Member] = []
    at = data.find(b"PK\x03\x04")
    while at >= 0 and len(members) < MAX_MEMBERS and allowance.work > 0:
        member = member_at(data, at + 6, at + 30, number(data, at + 26, 2), at, allowance)
        members.append(member)
        at = data.find(b"PK\x03\x04", at + 30 + member.size)
        if not member.size:  # it is not known before all is packed: up to the next, or the end
            member.size = max(0, (at if at >= 0 else len(data)) - member.offset - 30)
    return members


def member_at(
    data: bytes, fields: int, name: int, name_size: int, offset: int, allowance: Allowance
) -> Member:
    """Return the file that a header describes; `fields`: offset of the fields that both headers have."""
    allowance.work -= STEPS_OF_MEMBER
    flags = number(data, fields, 2)
    written = allowance.decode(data[name : name + min(name_size, MAX_NAME)])
    size = number(data, fields + 12, 4) % UNKNOWN
    return Member(written, bool(flags & 1), number(data, fields + 2, 2), size, offset)


def unpacked(data: bytes, member: Member, allowance: Allowance) -> bytes:
    """Return the decompressed bytes of a file in an archive, but no more than the limits allow."""
    at = member.offset
    if member.encrypted or not data.startswith(b"PK\x03\x04", at):
        return b""
    start = at + 30 + number(data, at + 26, 2) + number(data, at + 28, 2)
    end = min(len(data), start + member.size)
    if member.method == 8:
        return allowance.inflate(data, start, end, -15)
    if member.method:
        return b""
    stored = data[start : min(end, start + allowance.unpacked)]
    allowance.unpacked -= len(stored)
    return stored


def text_of(source: bytes, allowance: Allowance) -> str:
    """Return the text in an XML file that an Office program wrote."""
    from spamnb.core.native import render_page

    for tag in BREAKS:
        source = source.replace(tag, b"<br>")
    page = render_page(allowance.decode(source, "utf-8"), TAGS_A_STEP * allowance.work)
    allowance.work -= page.work // TAGS_A_STEP
    return page.text


def targets(source: bytes, allowance: Allowance) -> list[str]:
    """Return the web and mail links in a `.rels` file, which lists what an Office document refers to."""
    pieces = allowance.decode(source).split(TARGET, TARGETS_A_STEP * max(allowance.work, 0))[1:]
    allowance.work -= len(pieces) // TARGETS_A_STEP
    found = [piece[:MAX_TARGET].partition('"')[0].replace("&amp;", "&") for piece in pieces]
    return [link for link in found if "://" in link or link.startswith("mailto:")]
