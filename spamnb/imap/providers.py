"""Mail providers: hints for logging in, and links to messages."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote


class MailProvider(NamedTuple):
    """A mail provider: its server, the domains of its users, and what to do if it rejects a password."""

    host: str
    domains: tuple[str, ...]
    hint: str
    takes_password: bool = True
    opens: str = "mid:"  # beginning of the address of a message, before its Message-ID (RFC 2392)


def with_app_password(
    name: str, host: str, domains: str, page: str, opens: str = MailProvider._field_defaults["opens"]
) -> MailProvider:
    hint = f"{name} accepts only an app password here, not the password of the account: create one at {page}"
    return MailProvider(host, tuple(domains.split()), hint, opens=opens)


TWO_STEPS = "myaccount.google.com/apppasswords, after turning on 2-step verification"
IN_GMAIL = "https://mail.google.com/mail/#search/rfc822msgid%3A"
APPLE = "account.apple.com, Sign-In and Security"
YAHOO = "login.yahoo.com/account/security"
PROVIDERS = (
    with_app_password("Gmail", "imap.gmail.com", "gmail.com googlemail.com", TWO_STEPS, IN_GMAIL),
    with_app_password(
        "Fastmail", "imap.fastmail.com", "fastmail.com fastmail.fm", "Settings, Privacy & Security"
    ),
    with_app_password("iCloud", "imap.mail.me.com", "icloud.com me.com mac.com", APPLE, "message:"),
    with_app_password("Yahoo", "imap.mail.yahoo.com", "yahoo.com ymail.com", YAHOO),
    MailProvider(
        "outlook.office365.com",
        ("outlook.com", "hotmail.com", "live.com", "msn.com", "office365.com"),
        "Microsoft takes no password, only tokens (OAuth2), which a program like email-oauth2-proxy gets by "
        "a login in your browser, with a client ID. At work or school, ask the administrator for one. For "
        "Outlook.com and Hotmail, register one yourself with an Azure account, which is free but asks for a "
        "card; or forward that mail to a mailbox elsewhere",
        takes_password=False,
    ),
)


def provider_of(name: str) -> MailProvider | None:
    """Return the provider to which a host, mail address or domain belongs; None if PROVIDERS has none."""
    domain = "." + name.rpartition("@")[2].lower()
    return next(
        (one for one in PROVIDERS if domain.endswith(tuple(f".{each}" for each in one.domains))), None
    )


def host_of(user: str) -> str:
    """Guess the mail server of a mail address; return "" for a name without a domain."""
    found, (_, at, domain) = provider_of(user), user.rpartition("@")
    return found.host if found else f"imap.{domain}" if at else ""


def link_to(host: str, message_id: str) -> str:
    """Return a link that opens the message in a mail program, or on the web pages of the host's provider."""
    found = provider_of(host)
    return (found.opens if found else "mid:") + quote(
        message_id.strip().strip("<>").encode("utf-8", "surrogateescape"), safe="@"
    )
