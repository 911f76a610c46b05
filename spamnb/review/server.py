"""The server of the page: where it listens, the address to open, and the browser."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

import uvicorn

from spamnb.errors import CannotCreate, NoInput, UsageError
from spamnb.review.app import Pages
from spamnb.review.guard import Secrets
from spamnb.serve import sockets

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
GRACE = 5  # seconds for requests under way, once the page is told to end


@dataclass(frozen=True)
class Address:
    """Where to listen: a port of this machine, or what --listen says."""

    host: str = "127.0.0.1"
    port: int = 0  # any that is free
    path: str = ""  # of a Unix socket, in place of host and port
    certificate: str | None = None  # files for TLS
    key: str | None = None

    @classmethod
    def parse(cls, listen: str | None, port: int | None, certificate: str | None, key: str | None) -> Address:
        """Read the options; whatever others can reach must be encrypted, or a Unix socket."""
        if bool(certificate) != bool(key):
            raise UsageError("--tls-cert and --tls-key go together")
        if listen is None:
            return cls(port=port or 0, certificate=certificate, key=key)
        if port is not None:
            raise UsageError("--listen names the port, too; leave --port out")
        if path := sockets.unix_path(listen):
            return cls(path=path)
        host, _, number = listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (host and number.isascii() and number.isdecimal() and int(number) < 1 << 16):
            raise UsageError(f"{listen}: not an address; HOST:PORT or unix:PATH")
        address = cls(host, int(number), "", certificate, key)
        if not certificate and not address.is_loopback:
            raise UsageError(
                f"{listen}: others can reach it, so it needs --tls-cert and --tls-key; or listen at unix:PATH"
            )
        return address

    @property
    def is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def open(self) -> socket.socket:
        if self.path:
            return sockets.listen(f"unix:{self.path}")[0]
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise CannotCreate(
                f"cannot listen at {self.host}:{self.port}: {error.strerror}; try --port"
            ) from error


def run(
    folder: str | None, model: str, address: Address, announce: Callable[[str], object], browser: bool
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `announce` is called with its address."""
    secrets = Secrets()
    with address.open() as listener:
        check_certificate(address)
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
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            sockets.remove(listener)


def has_screen() -> bool:
    """Tell whether a browser has a window: in a terminal, one would take the place of this program."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def check_certificate(address: Address) -> None:
    """Refuse files that TLS cannot use, before anything is announced."""
    if address.certificate:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                address.certificate, address.key
            )
        except (OSError, ssl.SSLError) as error:
            raise NoInput(f"{address.certificate}: not a certificate with its key: {error}") from error
