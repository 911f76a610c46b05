"""Log lines about verdicts, with text from mail escaped."""

from spamnb.bayes.verdict import score_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.envelope import Envelope

MAX_TEXT_LENGTH = 200  # characters of a text from a client or a message that are logged


def write_syslog(verdict: "Verdict", size: int, envelope: "Envelope") -> None:
    """Send a line about a verdict to the system log; without a log daemon, the line is lost."""
    import syslog

    listed = f" {escaped(verdict.reason)}" if verdict.reason else ""
    score = f"{escaped(verdict.label)} score={score_text(verdict.score)}{listed}"
    line = f"{score} size={size} id={escaped(envelope.message_id)}"
    syslog.openlog("spamnb", syslog.LOG_PID, syslog.LOG_MAIL)
    syslog.syslog(syslog.LOG_INFO, line)


def escaped(text: str, keep: str = "") -> str:
    """Shorten a text; write spaces, \\ and all but printable ASCII as \\x.., except characters in `keep`."""
    if len(text) > MAX_TEXT_LENGTH:
        text = text[:MAX_TEXT_LENGTH] + "..."
    if text.isascii() and text.isprintable() and " " not in text and "\\" not in text:
        return text or "-"
    plain = (
        c if c in keep or (c.isascii() and c.isprintable() and c not in " \\") else _escape(c) for c in text
    )
    return "".join(plain)


def _escape(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
