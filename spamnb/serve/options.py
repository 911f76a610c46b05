"""Options of the server."""

from dataclasses import dataclass

DEFAULT_ADDRESS = "localhost:7830"  # spamc's default port, 783, is for root or systemd only
DEFAULT_MILTER_ADDRESS = "localhost:7832"
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Options:
    model: str
    listen: tuple[str, ...] = ()  # if empty: the sockets that systemd hands over, else the default address
    http: tuple[str, ...] = ()  # addresses of rspamd's protocol, and of the metrics
    http_password: str | None = None  # path of the file that has it
    milter: bool = False  # whether to speak the milter protocol instead of spamd's
    reject: bool = False
    user_models: str | None = None
    allow_tell: bool = False
    allow_tell_all: bool = False  # whether any user of a Unix socket may change any model
    allow_network: bool = False  # whether to listen where other machines can connect
    user: str | None = None
    history: bool = False
    max_size: int = 50_000_000  # bytes of a message; `spamc -s` of the recipes has the same
    max_connections: int = 512
    timeout: float = 30.0  # seconds for a client to send its request, and again to read the answer
    milter_timeout: float = 7200.0  # the mail server may wait long for its own client

    @property
    def largest(self) -> int:
        """The largest size of a request, in bytes; a packet of the milter protocol must fit."""
        return max(self.max_size, MEGABYTE) if self.milter else self.max_size
