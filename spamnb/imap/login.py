"""Connecting to the server of an account, and logging in."""

from __future__ import annotations

import imaplib
from contextlib import suppress
from typing import TYPE_CHECKING

from spamnb.imap.client import Client, SocketTimeout, exceptions, tls_context
from spamnb.imap.errors import hide
from spamnb.imap.oauth2 import Login
from spamnb.imap.secrets import secret_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

TIMEOUTS = SocketTimeout(connect=30, read=60)  # seconds without a byte


def logged_in(account: Account) -> Client:
    """Connect and log in. A token that is refused is asked for again, once: it may have run out."""
    secret = secret_or_token(account)
    try:
        return log_in(account, secret)
    except exceptions.LoginError:
        if not account.takes_token:
            raise
    return log_in(account, secret_or_token(account, refused=secret))


def secret_or_token(account: Account, refused: str = "") -> str:
    return Login(account, account.oauth2).access_token(refused) if account.oauth2 else secret_of(account)


def log_in(account: Account, secret: str) -> Client:
    client: Client | None = None
    try:
        client = connect(account)
        client.secret = secret
        if account.tls == "starttls":
            client.starttls(tls_context(account))
        log_in_by(client, account, secret)
    except BaseException as error:
        hide(error, secret)  # a server may know it from another time
        if client:
            with suppress(Exception):
                client.shutdown()
        raise
    client._cached_capabilities = None  # there may be more now
    return client


def log_in_by(client: Client, account: Account, secret: str) -> None:
    """Log in by the means that account and server have."""
    try:
        if account.takes_token:
            if client.has_capability("AUTH=OAUTHBEARER"):
                client.oauthbearer_login(account.user, secret)
            else:
                client.oauth2_login(account.user, secret)
        elif client.has_capability("LOGINDISABLED") or not secret.isascii():
            client.plain_login(account.user, secret)
        else:
            client.login(account.user, secret)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        raise exceptions.LoginError(*error.args) from None


def connect(account: Account) -> Client:
    implicit = account.tls == "implicit"
    client = Client(
        account.host,
        account.port_number,
        ssl=implicit,
        ssl_context=tls_context(account) if implicit else None,
        timeout=TIMEOUTS,
    )
    client._imap.debug = 0  # or each line would be formatted for a log that nobody reads
    return client
