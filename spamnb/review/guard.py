"""Decide who may see the review page, and what a browser may load for it.

The printed address has a random token. Whoever opens it gets a cookie, and an address without the token. A
browser that spamnb starts posts the token from a file that only its user can read. Each form has a further
secret, and posts that come from another site are rejected. A page loads only our own style sheets and
script; text of messages is escaped, or shown in a sandboxed frame that loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import URL, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spamnb.errors import DataError

# `style` attributes are allowed: only our own code writes them (widths, colours), and they load nothing.
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
MAX_FORM = 1 << 20  # bytes
ENTRY = "/enter"  # where a browser started by us posts the token
# Not a redirect: browsers send a cookie with SameSite=strict only if a page of ours makes the request.
ENTERED = '<!doctype html><meta http-equiv="refresh" content="0;url=/"><a href="/">spamnb review</a>'
STRANGER = "Not authorized. Open the address that `spamnb review` printed.\n"


def secret() -> str:
    return token_urlsafe(24)


@dataclass
class Secrets:
    """The secrets of one run of the server."""

    token: str = field(default_factory=secret)  # in the printed address
    session: str = field(default_factory=secret)  # in the cookie
    form: str = field(default_factory=secret)  # in each form


def is_same(given: str, expected: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), expected.encode())


def own_address(address: str) -> str:
    """Return `address` if it leads to a page of this server; otherwise "/", the first page."""
    is_ours = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if is_ours else "/"


@dataclass(frozen=True)
class Guard:
    """Middleware that lets only authorized requests reach the pages."""

    app: ASGIApp
    secrets: Secrets
    hosts: frozenset[str]  # allowed values of the header Host; empty behind a proxy: all are allowed
    cookie: str  # its name has the port, because a browser sends all cookies of a host to any port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = await self.answer(Request(scope, receive)) or self.app
        await answer(scope, receive, send_guarded)

    async def answer(self, request: Request) -> Response | None:
        """Answer a request that is refused or brings the token; return None for one that pages may answer."""
        host = request.headers.get("host", "").lower()
        if self.hosts and host not in self.hosts:  # another site's name may lead here, too
            return PlainTextResponse("Use the address that `spamnb review` printed.\n", 421)
        if token := request.query_params.get("token"):
            return self.let_in(request.url, token)
        if request.method == "POST" and request.url.path == ENTRY:
            return await self.let_browser_in(request)
        if not is_same(request.cookies.get(self.cookie, ""), self.secrets.session):
            return PlainTextResponse(STRANGER, 403)
        # Compared without the scheme: it may be https at a proxy, while this server has no TLS.
        origin = request.headers.get("origin", "").partition("://")[2]
        if request.method == "POST" and origin != host:
            return PlainTextResponse("This request came from another site, so it is refused.\n", 403)
        return None

    def let_in(self, url: URL, token: str) -> Response:
        if not is_same(token, self.secrets.token):
            return PlainTextResponse(STRANGER, 403)
        there = own_address(str(url.remove_query_params("token").replace(scheme="", netloc="")))
        return self.with_cookie(RedirectResponse(there, 303), url)

    async def let_browser_in(self, request: Request) -> Response:
        try:
            token = (await read_fields(request)).get("token", [""])[0]
        except DataError:
            token = ""
        if not is_same(token, self.secrets.token):
            return PlainTextResponse(STRANGER, 403)
        return self.with_cookie(HTMLResponse(ENTERED), request.url)

    def with_cookie(self, response: Response, url: URL) -> Response:
        is_safe = url.scheme == "https"
        response.set_cookie(
            self.cookie, self.secrets.session, httponly=True, samesite="strict", secure=is_safe
        )
        return response


async def read_form(request: Request, secrets: Secrets) -> dict[str, list[str]]:
    """Read a form; raise an error if it lacks the secret that this server writes into its forms."""
    fields = await read_fields(request)
    if not is_same(fields.get("secret", [""])[0], secrets.form):
        raise DataError("this form is from an earlier run of `spamnb review`; load the page again")
    return fields


async def read_fields(request: Request) -> dict[str, list[str]]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM:
            raise DataError("too much at once; select fewer messages")
    return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
