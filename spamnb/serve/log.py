"""One line a message, on standard error, in which nothing of a message stands as it came."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from spamnb.delivery.passthrough import header_end
from spamnb.files import complain, say_aside

if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict

LONGEST = 200  # characters of what a client or a message says
LONGEST_HEAD = 1 << 16  # bytes of a message in which its Message-ID is looked for
NAME = b"\nmessage-id:"


class Log:
    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def judged(self, verdict: Verdict, raw: bytes, user: str, seconds: float, asked: str) -> None:
        if not self.quiet:
            self._line(
                f"{verdict.label} {verdict.points:.1f} score={verdict.score:.4f}", raw, user, seconds, asked
            )

    def learned(self, outcome: str, label: str | None, raw: bytes, user: str, seconds: float) -> None:
        if not self.quiet:
            self._line(f"{outcome} {label or '-'}", raw, user, seconds, "TELL")

    def _line(self, what: str, raw: bytes, user: str, seconds: float, asked: str) -> None:
        say_aside(
            f"{what} size={len(raw)} ms={1000 * seconds:.1f} asked={asked} "
            f"user={escaped(user)} id={escaped(message_id(raw))}\n"
        )

    def refused(self, why: str) -> None:
        """Of a request that got an error for an answer; told even if quiet."""
        complain(why)

    def unexpected(self, error: BaseException | None) -> None:
        """Log an error of our own with its traceback, whose lines cannot be taken for others."""
        complain(f"unexpected {type(error).__name__}")
        for line in "".join(traceback.format_exception(error)).splitlines():
            say_aside(f"    | {escaped(line, keep=' ')}\n")


def escaped(text: str, keep: str = "") -> str:
    """One word of plain letters: all else, a space too, as \\x.."""
    if len(text) > LONGEST:
        text = text[:LONGEST] + "..."
    if text.isascii() and text.isprintable() and " " not in text and "\\" not in text:
        return text or "-"
    plain = (
        c if c in keep or (c.isascii() and c.isprintable() and c not in " \\") else _code(c) for c in text
    )
    return "".join(plain)


def _code(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def message_id(raw: bytes) -> str:
    """As the message has it, in its header; nothing if it has none."""
    head = b"\n" + raw[: header_end(raw[:LONGEST_HEAD], 0)]
    at = head.lower().find(NAME)
    if at < 0:
        return ""
    at += len(NAME)
    end = head.find(b"\n", at)
    return head[at : end if end >= 0 else len(head)].strip().decode("utf-8", "surrogateescape")
