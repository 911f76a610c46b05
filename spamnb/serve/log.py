"""The log of the server on standard error: one line a message, in which text from mail is escaped."""

import traceback

from spamnb.bayes.verdict import Verdict
from spamnb.delivery.log_line import escaped
from spamnb.files import complain, write_stderr
from spamnb.reading.envelope import Envelope, read_envelope


class Log:
    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def judged(
        self, verdict: Verdict, size: int, envelope: Envelope, user: str, seconds: float, command: str
    ) -> None:
        if not self.quiet:
            listed = f" {escaped(verdict.reason)}" if verdict.reason else ""
            points = f"{escaped(verdict.label)} {verdict.points:.1f} score={verdict.score:.4f}{listed}"
            self._write(points, size, envelope, user, seconds, command)

    def learned(self, outcome: str, label: str | None, raw: bytes, user: str, seconds: float) -> None:
        if not self.quiet:
            result = f"{outcome} {escaped(label or '')}"
            self._write(result, len(raw), read_envelope(raw), user, seconds, "TELL")

    def _write(
        self, result: str, size: int, envelope: Envelope, user: str, seconds: float, command: str
    ) -> None:
        write_stderr(
            f"{result} size={size} ms={1000 * seconds:.1f} asked={command} "
            f"user={escaped(user)} id={escaped(envelope.message_id)}\n"
        )

    def refused(self, why: str) -> None:
        """Log, even if quiet, a request that got an error for an answer."""
        complain(why)

    def unexpected(self, error: BaseException | None) -> None:
        """Log an error of our own with its traceback, indented: no line of it looks like another entry."""
        complain(f"unexpected {type(error).__name__}")
        for line in "".join(traceback.format_exception(error)).splitlines():
            write_stderr(f"    | {escaped(line, keep=' ')}\n")
