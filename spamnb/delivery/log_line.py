"""Lines about verdicts in a log, in which text from mail is escaped."""

from spamnb.passthrough import header_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict

LONGEST_TEXT = 200  # characters that are logged of a text from a client or a message
LONGEST_HEAD = 1 << 16  # bytes of a message in which its Message-ID is looked for
MESSAGE_ID = b"\nmessage-id:"


def write_syslog(verdict: "Verdict", raw: bytes) -> None:
    """Send a line to the system's log; where none listens, it is lost."""
    import syslog

    listed = f" {escaped(verdict.reason)}" if verdict.reason else ""
    score = f"{escaped(verdict.label)} score={verdict.score:.4f}{listed}"
    line = f"{score} size={len(raw)} id={escaped(message_id(raw))}"
    syslog.openlog("spamnb", syslog.LOG_PID, syslog.LOG_MAIL)
    syslog.syslog(syslog.LOG_INFO, line)


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
