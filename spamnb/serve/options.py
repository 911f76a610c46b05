"""Options of the server, handed over to its process as JSON on standard input."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

DEFAULT_ADDRESS = "localhost:7830"  # spamc's default port, 783, is for root or systemd only
DEFAULT_MILTER_ADDRESS = "localhost:7832"
MILTER_TIMEOUT = 7200.0  # seconds: the mail server itself may have to wait long for its client
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Options:
    model: str
    listen: tuple[str, ...] = ()  # if empty: the sockets that systemd hands over, else the default address
    workers: int = 1
    user_models: str | None = None
    allow_tell: bool = False
    allow_tell_all: bool = False  # whether any user at a Unix socket may teach any model
    create_user_models: bool = False  # whether a user's first lesson makes a model
    teach_shared: bool = False  # whether users without a model teach the shared one
    allow_network: bool = False  # whether to listen where other machines can connect
    header_style: str | None = None  # None: as configured
    metrics: str | None = None
    http: tuple[str, ...] = ()  # addresses of rspamd's protocol
    http_password: str | None = None  # path of the file that has it
    max_size: int = 50_000_000  # bytes of a message; `spamc -s` of the recipes has the same
    timeout: float = 30.0  # seconds
    max_connections: int = 256  # for each worker
    user: str | None = None
    milter: bool = False  # whether to speak the milter protocol instead of spamd's
    milter_failure: str = "accept"
    reject: bool = False
    history: bool = False
    history_days: str | None = None
    history_size: str | None = None

    @classmethod
    def from_json(cls, text: str) -> Options:
        fields = json.loads(text)
        return cls(**fields | {name: tuple(fields[name]) for name in ("listen", "http")})

    def as_json(self) -> str:
        return json.dumps(asdict(self))
