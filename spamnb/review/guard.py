"""Who may see the page, and what a browser may do with it.

The address that is printed has a random token; who brings it gets a cookie, and the token leaves the address
bar. Forms carry a secret of their own, and what another site sends is refused by its origin. A page loads
nothing but our own style sheets and script; what a message holds is escaped, or shown in a sandboxed frame
that loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import URL, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spamnb.errors import DataError

# Attributes named `style` are only our own, and can load nothing: widths of bars, tints of words.
POLICY = (
    "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # with no-referrer, browsers hide the origin of our own forms, too
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
}
LARGEST_FORM = 1 << 20  # bytes
STRANGER = "This page is for who started it: open the address that `spamnb review` printed.\n"


def secret() -> str:
    return token_urlsafe(24)


@dataclass(frozen=True)
class Secrets:
    """The secrets of one run."""

    token: str = field(default_factory=secret)  # of the address that is printed
    session: str = field(default_factory=secret)  # of the cookie
    form: str = field(default_factory=secret)
    # For the address that a browser is started with, which others see in the list of processes: works once.
    once: set[str] = field(default_factory=lambda: {secret()})

    def admits(self, token: str) -> bool:
        if any(is_same(token, each) for each in self.once):
            self.once.clear()
            return True
        return is_same(token, self.token)


def is_same(given: str, expected: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), expected.encode())


@dataclass(frozen=True)
class Guard:
    """Stands before the pages."""

    app: ASGIApp
    secrets: Secrets
    hosts: frozenset[str]  # that a request may be addressed to; empty where TLS or a proxy sees to it
    cookie: str  # its name: cookies know no ports, and there may be several pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self.answer(Request(scope)) or self.app
        await answer(scope, receive, send_guarded)

    def answer(self, request: Request) -> Response | None:
        """Return the answer to a request that must not pass; None for one that may."""
        host = request.headers.get("host", "").lower()
        if self.hosts and host not in self.hosts:  # a name that another site has made lead here
            return PlainTextResponse("This is not the address of this page.\n", 421)
        if token := request.query_params.get("token"):
            return self.let_in(request.url, token)
        if not is_same(request.cookies.get(self.cookie, ""), self.secrets.session):
            return PlainTextResponse(STRANGER, 403)
        if request.method == "POST" and request.headers.get("origin") != f"{request.url.scheme}://{host}":
            return PlainTextResponse("This was sent by another site.\n", 403)
        return None

    def let_in(self, url: URL, token: str) -> Response:
        if not self.secrets.admits(token):
            return PlainTextResponse(STRANGER, 403)
        response = RedirectResponse(url.remove_query_params("token").replace(scheme="", netloc=""), 303)
        is_safe = url.scheme == "https"
        response.set_cookie(
            self.cookie, self.secrets.session, httponly=True, samesite="strict", secure=is_safe
        )
        return response


async def read_form(request: Request, secrets: Secrets) -> dict[str, list[str]]:
    """Read a form of ours: what was sent by somebody else lacks its secret."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            raise DataError("too much at once; select fewer messages")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    if not is_same(fields.get("secret", [""])[0], secrets.form):
        raise DataError("this form is of an earlier run of the page; load it again")
    return fields
