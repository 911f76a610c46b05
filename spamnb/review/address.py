"""Where the page listens: whatever others can reach must be encrypted, or a Unix socket."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

from spamnb.errors import CannotCreate, NoInput, UsageError
from spamnb.serve import sockets


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
        """Read the options of the command line."""
        if bool(certificate) != bool(key):
            raise UsageError("--tls-cert and --tls-key must be given together")
        if listen is None:
            return cls(port=port or 0, certificate=certificate, key=key)
        if port is not None:
            raise UsageError("--port cannot be combined with --listen, which has a port")
        if path := sockets.unix_path(listen):
            if certificate:
                raise UsageError("--tls-cert has no effect at a Unix socket: leave it and --tls-key out")
            return cls(path=path)
        host, number = sockets.host_and_port(listen)
        if not certificate and not sockets.is_loopback(host):
            why = "others can reach it, so it needs --tls-cert and --tls-key; or listen at unix:PATH"
            raise UsageError(f"{listen}: {why}")
        return cls(host, number, "", certificate, key)

    def open(self) -> socket.socket:
        if self.path:
            return sockets.listen(f"unix:{self.path}")[0]
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            why = f"cannot listen at {self.host}:{self.port}: {error.strerror}; try --port"
            raise CannotCreate(why) from error

    def check_certificate(self) -> None:
        """Refuse files that TLS cannot use."""
        if self.certificate:
            try:
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(self.certificate, self.key)
            except (OSError, ssl.SSLError) as error:
                why = error.strerror or "not a certificate with its key"
                raise NoInput(f"{self.certificate}: {why}") from error
