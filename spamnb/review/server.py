"""The server of the page: where it listens, the address to open, and the browser."""

from __future__ import annotations

import os
import signal
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from spamnb.review.address import Address
from spamnb.review.app import Pages
from spamnb.review.guard import Secrets

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
GRACE = 5  # seconds for requests under way, once the page is told to end


def run(
    folder: str | None, model: str, address: Address, announce: Callable[[str], object], browser: bool
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `announce` is called with its address."""
    secrets = Secrets()
    with address.open() as listener:
        port = 0 if address.path else listener.getsockname()[1]
        hosts = (
            frozenset(f"{host}:{port}" for host in LOOPBACK) if address.is_loopback and port else frozenset()
        )
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
                ssl_certfile=address.certificate,
                ssl_keyfile=address.key,
            )
        )
        name = f"[{address.host}]" if ":" in address.host else address.host
        base = f"{'https' if address.certificate else 'http'}://{name}:{port}"
        if address.path:
            announce(f"unix:{address.path} /?token={secrets.token}")
        else:
            announce(f"{base}/?token={secrets.token}")
            if browser and has_screen():
                webbrowser.open(f"{base}/?token={next(iter(secrets.once))}")
        # Ended by a signal, too, this function returns: what was made for this run is removed.
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.signal(signal.SIGHUP, lambda *_: setattr(server, "should_exit", True))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        if address.path:
            with suppress(OSError):
                os.unlink(address.path)


def has_screen() -> bool:
    """Tell whether a browser has a window: in a terminal, one would take the place of this program."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
