"""The log of the server on standard error: one line per message, with text from mail escaped."""

import time
import traceback

from spamnb.bayes.verdict import Verdict, score_text
from spamnb.core.native import Message
from spamnb.delivery.log_line import escaped
from spamnb.files import printable, write_stderr
from spamnb.reading.envelope import Envelope, envelope_of, read_envelope
from spamnb.systemd import adds_time


def write_line(text: str) -> None:
    """Write a line, with the time at its start unless systemd's journal adds the time."""
    write_stderr(text + "\n" if adds_time() else f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {text}\n")


def complain(why: str) -> None:
    write_line(f"spamnb: {printable(why)}")


class Log:
    def judged(
        self, verdict: Verdict, size: int, message: Message, seconds: float, asked: str, **more: str
    ) -> None:
        """Log a verdict on a message; `more` are other facts, such as model, user and queue id."""
        listed = f" {escaped(verdict.reason)}" if verdict.reason else ""
        points = f"{escaped(verdict.label)} {verdict.points:.1f} score={score_text(verdict.score)}{listed}"
        self._write(points, size, envelope_of(message), seconds, asked, more)

    def learned(self, outcome: str, label: str | None, raw: bytes, seconds: float, **more: str) -> None:
        result = f"{outcome} {escaped(label or '')}"
        self._write(result, len(raw), read_envelope(raw), seconds, "TELL", more)

    def _write(
        self, result: str, size: int, envelope: Envelope, seconds: float, asked: str, more: dict[str, str]
    ) -> None:
        named = " ".join(f"{name}={escaped(text)}" for name, text in more.items())
        message_id = escaped(envelope.message_id)
        write_line(f"{result} size={size} ms={1000 * seconds:.1f} asked={asked} {named} id={message_id}")

    def refused(self, why: str, user: str = "", message_id: str = "") -> None:
        """Log a request that was answered with an error."""
        complain(f"{why} user={escaped(user)} id={escaped(message_id)}" if user or message_id else why)

    def unexpected(self, error: BaseException | None) -> None:
        """Log an unexpected error with its traceback, indented so that no line looks like another entry."""
        complain(f"unexpected {type(error).__name__}")
        for line in "".join(traceback.format_exception(error)).splitlines():
            write_stderr(f"    | {escaped(line, keep=' ')}\n")
