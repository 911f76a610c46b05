"""OAuth 2: a login in the browser of any device (RFC 8628), and access tokens from it ever after.

The keyring keeps what the provider gave. One process at a time renews it: a provider may give another refresh
token each time, and end the login when an old one is used again.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from spamnb.errors import DataError, command_to_run
from spamnb.files import state_folder
from spamnb.imap.errors import NotLoggedIn, reason_of
from spamnb.imap.secrets import from_keyring, to_keyring
from spamnb.imap.state import locked

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account, Provider

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
MAX_ANSWER = 64 << 10  # bytes; a token of Microsoft has 2 kB
PATIENCE = 30.0  # seconds without a byte
MAX_WAIT = 3600.0  # seconds for somebody to enter the code
SLOWER = 5.0  # seconds more between two questions, as RFC 8628 has it
EARLY = 60.0  # seconds before its end that a token is renewed
UNREACHABLE = "unreachable"  # beside the codes of OAuth 2
ENDED = {
    "access_denied": "access was denied",
    "expired_token": "nobody entered the code in time",
    "invalid_grant": "the login has ended",
}


class Refused(NotLoggedIn):
    """The provider rejected a request, sent a malformed answer, or is unreachable."""

    def __init__(self, why: str, code: str = "") -> None:
        super().__init__(why)
        self.code = code


class Login:
    """The login of an account at its provider."""

    def __init__(self, account: Account, provider: Provider) -> None:
        self.account = account
        self.provider = provider
        self.host = urlsplit(provider.token_url).hostname
        self.what_to_do = f"run: {command_to_run('imap', 'login', '--account', account.name)}"

    def in_browser(
        self, show: Callable[[str, str], None], wait: Callable[[float], object] = time.sleep
    ) -> None:
        """Show the address of a page and a code to enter there, and wait until it was entered."""
        self.what_to_do = "try again"  # `login` or `setup`, which has not written the account yet
        from_keyring(self.account)  # fails now, not after the login, if the keyring does not work
        begun = self._ask(self.provider.device_url, scope=self.provider.scope)
        code = self._text(begun, "device_code")
        left = min(self._seconds(begun, "expires_in", MAX_WAIT), MAX_WAIT)
        pause = max(self._seconds(begun, "interval", SLOWER), 1.0)
        show(self._text(begun, "verification_uri"), self._text(begun, "user_code"))
        while left > 0:
            wait(min(pause, left))
            left -= pause
            try:
                answer = self._ask(self.provider.token_url, grant_type=DEVICE_CODE, device_code=code)
            except Refused as error:
                if error.code in ("slow_down", UNREACHABLE):
                    pause += SLOWER
                elif error.code != "authorization_pending":
                    raise
            else:
                with locked_keyring():
                    self._keep(answer)
                return
        raise self._ended("expired_token")

    def access_token(self, refused: str = "") -> str:
        """Return a token that has not expired, and is not the rejected one."""
        with locked_keyring():
            try:
                kept = json.loads(from_keyring(self.account) or "")
                token, refresh, end = kept["access_token"], str(kept["refresh_token"]), float(kept["end"])
            except (ValueError, TypeError, KeyError):
                raise DataError(f"nobody has logged in yet; {self.what_to_do}") from None
            if token != refused and time.time() < end - EARLY:
                return str(token)
            form = {"grant_type": "refresh_token", "refresh_token": refresh}
            return self._keep(self._ask(self.provider.token_url, **form), refresh)

    def _keep(self, answer: dict[str, Any], refresh: str = "") -> str:
        """Put the tokens of an answer into the keyring; returns the one for the mail server."""
        token = self._text(answer, "access_token")
        if answer.get("refresh_token") or not refresh:
            refresh = self._text(answer, "refresh_token")
        end = time.time() + self._seconds(answer, "expires_in", 3600.0)
        to_keyring(self.account, json.dumps({"access_token": token, "refresh_token": refresh, "end": end}))
        return token

    def _ask(self, url: str, **form: str) -> dict[str, Any]:
        """Send a form with the configured client ID, and return the answer."""
        form |= {"client_id": self.provider.client_id}
        try:
            status, data = post(url, urlencode(form), self.account)
        except (OSError, HTTPException, ValueError) as error:
            raise Refused(f"{urlsplit(url).hostname}: {reason_of(error)}", UNREACHABLE) from None
        try:
            answer = json.loads(data) if len(data) <= MAX_ANSWER else None
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict) and isinstance(code := answer.get("error"), str):
            if code in ENDED:
                raise self._ended(code)
            why = reason_of(ValueError(code, answer.get("error_description", "")))
            raise Refused(f"{self.host}: login refused ({why}); check `oauth2`", code)
        if status != 200 or not isinstance(answer, dict):
            why = f"no answer of OAuth 2, with HTTP status {status}"
            raise Refused(f"{self.host}: {why}; check the addresses of `oauth2`")
        return answer

    def _ended(self, code: str) -> Refused:
        return Refused(f"{self.host}: {ENDED[code]} ({code}); {self.what_to_do}", code)

    def _text(self, answer: dict[str, Any], key: str) -> str:
        text = answer.get(key)
        if not (isinstance(text, str) and text and text.isascii() and text.isprintable()):
            hint = "; `scope` may have to name offline_access" if key == "refresh_token" else ""
            raise Refused(f"{self.host}: no {key} in the answer{hint}")
        return text

    def _seconds(self, answer: dict[str, Any], key: str, default: float) -> float:
        try:
            return max(0.0, float(answer.get(key, default)))  # some write it as a text
        except (ValueError, TypeError, OverflowError):
            raise Refused(f"{self.host}: no number of seconds as {key} in the answer") from None


def post(url: str, form: str, account: Account) -> tuple[int, bytes]:
    """Send a form; return the status and the answer, cut to one byte above the limit."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    if parts.scheme == "https":
        context = tls_context(account, and_system=True)
        connection = HTTPSConnection(connection.host, parts.port, timeout=PATIENCE, context=context)
    path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    with closing(connection):
        connection.request("POST", path, form, kind)
        answer = connection.getresponse()
        return answer.status, answer.read(MAX_ANSWER + 1)


def locked_keyring() -> AbstractContextManager[None]:
    """Lock the keyring for all processes, threads and accounts: it may be one file."""
    return locked(os.path.join(state_folder("imap"), "oauth2.lock"))


def tls_context(account: Account, and_system: bool = False) -> ssl.SSLContext:
    """Make a TLS context with the `ca_file` of an account, or else the system's certificates, or both."""
    try:
        context = ssl.create_default_context(cafile=account.ca_file or None)
    except OSError as error:
        raise DataError(f"ca_file {account.ca_file}: {error.strerror}") from None
    if and_system:
        context.load_default_certs()
    return context
