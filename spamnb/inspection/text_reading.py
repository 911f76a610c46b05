"""How the texts of a message were read: what it declares of each, what was used, and why if they differ."""

from __future__ import annotations

from typing import Any, NamedTuple

from spamnb.reading.message import Leaf, Message

LONGEST_NAME = 40  # characters of a declared name
# How charsets are called in mail, where Python's names begin otherwise.
MAIL_NAMES = {
    "ascii": "us-ascii",
    "big5hk": "big5-hk",
    "cp12": "windows-12",
    "cp874": "windows-874",
    "iso2022": "iso-2022",
    "iso8859": "iso-8859",
}


class HowRead(NamedTuple):
    """A transfer encoding or a charset: as declared, "" if it is not; as used; and why, if they differ."""

    declared: str
    used: str
    why: str


class TextReading(NamedTuple):
    """How the text of a leaf was read."""

    type: str
    filename: str
    encoding: HowRead
    charset: HowRead

    @property
    def note(self) -> str:
        """What was read otherwise than declared, in words; nothing if all is as declared."""
        encoding, charset, notes = self.encoding, self.charset, []
        if encoding.why:
            declared = f"declared {encoding.declared}" if encoding.declared else "no encoding declared"
            notes.append(f"{declared}, read as {encoding.used}: {encoding.why}")
        if charset.why and charset.declared:
            notes.append(f"declared charset {charset.declared}, read as {charset.used}: {charset.why}")
        elif charset.why:
            notes.append(f"charset {charset.used}, {charset.why}")
        return "; ".join(notes)

    def as_map(self) -> dict[str, Any]:
        """All of it as plain values, for programs."""
        return {**self._asdict(), "encoding": self.encoding._asdict(), "charset": self.charset._asdict()}


def text_readings(message: Message) -> list[TextReading]:
    """How each text of a message was read."""
    return [text_reading(leaf) for leaf in message.leaves if leaf.text is not None]


def text_reading(leaf: Leaf) -> TextReading:
    """How the text of a leaf was read."""
    headers = [value for name, value in leaf.headers if name == "content-transfer-encoding"]
    encoding, charset = "".join(headers[:1]).strip().lower()[:LONGEST_NAME], leaf.charset[:LONGEST_NAME]
    how = leaf.decoding
    return TextReading(
        leaf.content_type,
        leaf.filename,
        HowRead(encoding, how.encoding if how else encoding or "7bit", how.why_encoding if how else ""),
        HowRead(
            charset, mail_name(how.charset) if how else charset or "us-ascii", how.why_charset if how else ""
        ),
    )


def mail_name(codec: str) -> str:
    """How a charset is called in mail, by Python's name of its codec."""
    for start, name in MAIL_NAMES.items():
        if codec.startswith(start):
            codec = name + codec[len(start) :]
    return codec.replace("_", "-")
