"""The log of the server on standard error: one line a message, in which text from mail is escaped."""

import traceback

from spamnb.bayes.verdict import Verdict
from spamnb.delivery.passthrough import header_end
from spamnb.files import complain, write_stderr

LONGEST_TEXT = 200  # characters that are logged of a text from a client or a message
LONGEST_HEAD = 1 << 16  # bytes of a message in which its Message-ID is looked for
MESSAGE_ID = b"\nmessage-id:"


class Log:
    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def judged(self, verdict: Verdict, raw: bytes, user: str, seconds: float, command: str) -> None:
        if not self.quiet:
            self._write(
                f"{verdict.label} {verdict.points:.1f} score={verdict.score:.4f}", raw, user, seconds, command
            )

    def learned(self, outcome: str, label: str | None, raw: bytes, user: str, seconds: float) -> None:
        if not self.quiet:
            self._write(f"{outcome} {label or '-'}", raw, user, seconds, "TELL")

    def _write(self, result: str, raw: bytes, user: str, seconds: float, command: str) -> None:
        write_stderr(
            f"{result} size={len(raw)} ms={1000 * seconds:.1f} asked={command} "
            f"user={escaped(user)} id={escaped(message_id(raw))}\n"
        )

    def refused(self, why: str) -> None:
        """Log, even if quiet, a request that got an error for an answer."""
        complain(why)

    def unexpected(self, error: BaseException | None) -> None:
        """Log an error of our own with its traceback, indented: no line of it looks like another entry."""
        complain(f"unexpected {type(error).__name__}")
        for line in "".join(traceback.format_exception(error)).splitlines():
            write_stderr(f"    | {escaped(line, keep=' ')}\n")


def escaped(text: str, keep: str = "") -> str:
    """Shorten a text, and write spaces and all but printable ASCII as \\x.., except characters to `keep`."""
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT] + "..."
    if text.isascii() and text.isprintable() and " " not in text and "\\" not in text:
        return text or "-"
    plain = (
        c if c in keep or (c.isascii() and c.isprintable() and c not in " \\") else _escape(c) for c in text
    )
    return "".join(plain)


def _escape(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def message_id(raw: bytes) -> str:
    """Message-ID as it stands in the header; empty if there is none."""
    head = b"\n" + raw[: header_end(raw[:LONGEST_HEAD], 0)]
    at = head.lower().find(MESSAGE_ID)
    if at < 0:
        return ""
    at += len(MESSAGE_ID)
    end = head.find(b"\n", at)
    return head[at : end if end >= 0 else len(head)].strip().decode("utf-8", "surrogateescape")
