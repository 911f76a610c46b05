"""What the server or the network do wrong, in words that say what to do.

SpamnbError
  ImapError          the server said no, or could not be understood; the connection is still of use
    Full             the mailbox has no room for more
    Broken           the connection is lost, or was never made
      NotLoggedIn    the server refuses who we are, or how we say it
"""

from __future__ import annotations

import imaplib
import socket
import ssl
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.imap.client import exceptions

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

LONGEST_REASON = 200  # characters of what a server says
BUSY = ("[LIMIT]", "[UNAVAILABLE]", "[INUSE]", "[SERVERBUG]")  # not the fault of who logs in
TELLING = 6  # characters of a secret in a row that are never shown


class ImapError(SpamnbError):
    """The server said no, or could not be understood."""


class Broken(ImapError):
    """The connection is lost, or was never made."""


class Full(ImapError):
    """The mailbox has no room for more."""


class NotLoggedIn(Broken):
    """The server refuses who we are, or how we say it."""


def explained(error: Exception, account: Account, doing: str) -> ImapError:
    """Say what went wrong, and what to do."""
    where = f"{account.host}:{account.port_number}"
    if isinstance(error, socket.gaierror):
        return Broken(f"{account.host}: name not found; check `host`, and the network")
    if isinstance(error, ConnectionRefusedError):
        return Broken(f"{where}: refuses connections; check `port` and `tls`")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = printable(error.verify_message)
        return Broken(f"{where}: its certificate is not trusted ({why}); check `host`, or set `ca_file`")
    if isinstance(error, ssl.SSLError):
        return Broken(f"{where}: no TLS ({reason_of(error)}); check `port` and `tls`")
    if isinstance(error, TimeoutError):
        return Broken(f"{where}: no answer in time")
    if isinstance(error, exceptions.LoginError) and any(code in reason_of(error) for code in BUSY):
        return Broken(f"{where}: busy ({reason_of(error)})")
    if isinstance(error, exceptions.LoginError):
        return NotLoggedIn(f"{where}: login refused ({reason_of(error)}); check `user` and the password")
    if isinstance(error, exceptions.CapabilityError):
        return Broken(f"{where}: {reason_of(error)}; check `tls`")
    if isinstance(error, imaplib.IMAP4.abort | OSError):
        return Broken(f"{where}: connection lost ({reason_of(error)})")
    text = reason_of(error)
    if isinstance(error, imaplib.IMAP4.readonly) or "READ-ONLY" in text:
        return ImapError(f"cannot {doing}: it is read-only here")
    if "OVERQUOTA" in text or "quota" in text.lower():
        return Full(f"cannot {doing}: the mailbox is full ({text}); make room")
    if "NOPERM" in text:
        return ImapError(f"cannot {doing}: the server does not allow it ({text})")
    if "TRYCREATE" in text or "NONEXISTENT" in text:
        return ImapError(f"cannot {doing}: it does not exist ({text}); `spamnb imap check` lists the folders")
    if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, exceptions.ProtocolError):
        return ImapError(f"cannot {doing}: {text}")
    return ImapError(f"cannot {doing}: the answer makes no sense ({type(error).__name__}: {text})")


def hide(error: BaseException, secret: str) -> None:
    """Take away what an error says if a piece of a secret is in it: a server may repeat what it is told.

    This is done before anything is shortened or made printable, which would make another of it.
    """
    text = said_by(error)
    data = secret.encode()
    forms = {secret, secret.replace("\\", r"\\").replace('"', r"\""), repr(data)[2:-1], quote(secret)}
    # As a login has it: somewhere within what is encoded. Four letters of base64 are three bytes.
    forms.update(b64encode(b"\0" * shift + data + b"\0" * 3)[4:-4].decode() for shift in range(3))
    for form in forms:
        size = min(TELLING, len(form))
        telling = {form[at : at + size] for at in range(len(form) - size + 1)} - {""}
        if any(text[at : at + size] in telling for at in range(len(text) - size + 1)):
            error.args = (next((code for code in BUSY if code in text), "…"),)
            return


def reason_of(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else said_by(error)
    return printable(" ".join(text.split()))[:LONGEST_REASON]


def said_by(error: BaseException) -> str:
    return " ".join(
        argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)
        for argument in error.args
    )
