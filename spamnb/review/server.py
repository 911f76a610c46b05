"""Run the server of the review page: open its sockets, print its address, start a browser."""

from __future__ import annotations

import os
import signal
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import uvicorn

from spamnb.errors import SpamnbError, UsageError
from spamnb.history.queries import History
from spamnb.review.app import Pages
from spamnb.review.guard import ENTRY, Secrets
from spamnb.serve import sockets

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
BETWEEN = 0.2  # seconds between steps of `gather_all`: longer than SQLite waits before it retries
GRACE = 5  # seconds for requests under way, after a signal to end
POSTED = """<!doctype html><meta charset="utf-8"><title>spamnb review</title>
<form method="post" action="{}"><input type="hidden" name="token" value="{}"><button>Open</button></form>
<script>document.forms[0].submit()</script>
"""


def check_address(address: str) -> None:
    """Refuse an address that other machines can reach, because this server does not encrypt."""
    if not sockets.unix_path(address) and not sockets.is_loopback(sockets.host_and_port(address)[0]):
        raise UsageError(f"{address}: other machines can reach this; use unix:PATH, behind a proxy with TLS")


def run(
    folder: str | None, model: str, address: str, announce: Callable[[str], object], browser: bool
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; first call `announce` with the address of the page."""
    secrets = Secrets()
    with ExitStack() as stack:
        listeners = sockets.listen(address)
        for each in listeners:
            stack.callback(each.close)
        if path := sockets.unix_path(address):
            stack.callback(Path(path).unlink, missing_ok=True)
        port = 0 if path else listeners[0].getsockname()[1]
        hosts = frozenset() if path else frozenset(f"{host}:{port}" for host in LOOPBACK)
        server = uvicorn.Server(
            uvicorn.Config(
                Pages(folder, model, secrets).app(hosts, f"spamnb-{port}"),
                lifespan="off",
                ws="none",
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
            )
        )

        def end(*_: object) -> None:
            server.should_exit = True

        # So this function returns after a signal, too, and removes its socket and temporary files.
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGHUP, end)
        base = f"{address} " if path else f"http://{sockets.address_of(listeners[0])}"
        announce(f"{base}/?token={secrets.token}")
        if browser and not path and has_screen():
            temporary = stack.enter_context(TemporaryDirectory(prefix="spamnb-review-"))
            start_browser(temporary, base + ENTRY, secrets.token)
        Thread(target=gather_all, args=[folder], daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.run(sockets=listeners)


def gather_all(folder: str | None) -> None:
    """Copy all verdicts from the log into the history in small steps, so that pages can write in between."""
    with suppress(SpamnbError), History.open(folder) as history:
        while history.gather(seconds=0):
            time.sleep(BETWEEN)


def start_browser(folder: str, address: str, token: str) -> None:
    """Let a browser open a file that posts the token; other users could read a token in a command line."""
    page = Path(folder) / "open.html"
    page.touch(0o600)
    page.write_text(POSTED.format(escape(address), escape(token)))
    # In the background: some browsers run until they are closed.
    Thread(target=webbrowser.open, args=[page.as_uri()], daemon=True).start()


def has_screen() -> bool:
    """Return whether a browser would open a window, instead of running in this terminal."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
