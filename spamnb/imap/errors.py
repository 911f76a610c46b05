"""Errors of the mail server and of the network, with messages that say what to do."""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
from base64 import b64encode
from typing import TYPE_CHECKING

from spamnb.errors import SpamnbError, needs_extra
from spamnb.files import printable
from spamnb.imap.providers import provider_of

try:
    from imapclient import IMAPClient, SocketTimeout, exceptions
except ImportError:
    raise needs_extra("`spamnb imap`", "imap") from None

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

__all__ = ["IMAPClient", "SocketTimeout", "exceptions"]  # of imapclient, which may be missing

MAX_REASON = 200  # characters of what a server says
BUSY = ("[LIMIT]", "[UNAVAILABLE]", "[INUSE]", "[SERVERBUG]")  # not caused by wrong credentials
BYTES = re.compile(r"""\bb(["'])(.*?)\1""")  # bytes, as Python prints them


class ImapError(SpamnbError):
    """The server rejected a command, or gave a malformed answer. After a `Broken`, the connection is lost."""


class Broken(ImapError):
    """The connection was lost, or could not be opened."""


class Full(ImapError):
    """The mailbox is full."""


class NotTrusted(Broken):
    """The certificate of the server is not trusted."""


class NotLoggedIn(Broken):
    """The login was rejected."""


# Messages for a connection that is lost or could not be opened; WHY stands for the error's own text.
BROKEN = {
    socket.gaierror: "name not found; check `host`, and the network",
    ConnectionRefusedError: "refuses connections; check `port` and `tls`",
    ssl.SSLCertVerificationError: (
        "its certificate is not trusted (WHY): check `host`; if the server is your own, save its certificate "
        "in a file, and name that file in `ca_file`"
    ),
    ssl.SSLError: "TLS failed (WHY); check `port` and `tls`",
    TimeoutError: "no answer in time; check `port`, and the network",
    exceptions.LoginError: "the server is busy (WHY); try again later",
    exceptions.CapabilityError: "WHY; check `tls`",
    imaplib.IMAP4.abort: "connection lost (WHY)",
    OSError: "connection lost (WHY)",
}
# Messages for a rejected command, by the code in the server's answer (RFC 5530).
REFUSED = {
    "READ-ONLY": "the folder is read-only",
    "NOPERM": "the server does not allow it (WHY)",
    "TRYCREATE": "the folder does not exist (WHY); `spamnb imap check` lists the folders",
    "NONEXISTENT": "the folder does not exist (WHY); `spamnb imap check` lists the folders",
}


def explained(error: Exception, account: Account, doing: str) -> ImapError:
    """Make an ImapError from `error`: what failed (`doing`, e.g. "open the folder Work"), why, what to do."""
    where, why = f"{account.host}:{account.port_number}", reason_of(error)
    if isinstance(error, exceptions.LoginError) and not any(code in why for code in BUSY):
        provider = provider_of(account.host)
        hint = f". {provider.hint}" if provider and not account.oauth2_token_command else ""
        return NotLoggedIn(f"{where}: login refused ({why}); check the address and the password{hint}")
    is_read_only = isinstance(error, imaplib.IMAP4.readonly)  # for imaplib, the connection ends here
    for kind, text in BROKEN.items():
        if isinstance(error, kind) and not is_read_only:
            is_untrusted = kind is ssl.SSLCertVerificationError
            return (NotTrusted if is_untrusted else Broken)(f"{where}: {text.replace('WHY', why)}")
    if "quota" in why.lower():
        return Full(f"cannot {doing}: the mailbox is full ({why}); delete some mail")
    if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, exceptions.ProtocolError):
        said = "READ-ONLY" if is_read_only else why
        text = next((text for code, text in REFUSED.items() if code in said), "WHY")
        return ImapError(f"cannot {doing}: {text.replace('WHY', why)}")
    return ImapError(
        f"cannot {doing}: the mail server's answer was not understood ({type(error).__name__}: {why})"
    )


def redact(error: BaseException, secret: str) -> None:
    """Remove the text of `error` if the text contains `secret`, because a server may repeat what it was sent.

    Call this before the text is shortened or made printable: afterwards `secret` might not be found.
    """
    text, data = error_text(error), secret.encode()
    forms = {secret, secret.replace("\\", r"\\").replace('"', r"\""), repr(data)[2:-1]}
    # A login encodes the secret together with other text in base64: four letters for each three bytes.
    forms.update(b64encode(b"\0" * shift + data + b"\0" * 3)[4:-4].decode() for shift in range(3))
    if secret and any(form in text for form in forms if form):
        error.args = (next((code for code in BUSY if code in text), "…"),)


def reason_of(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return printable(error.verify_message)
    text = error.strerror if isinstance(error, OSError) and error.strerror else error_text(error)
    return printable(" ".join(BYTES.sub(r"\2", text).split()))[:MAX_REASON]


def error_text(error: BaseException) -> str:
    return " ".join(
        argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)
        for argument in error.args
    )
