"""Options of the server, handed over to its process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

DEFAULT_ADDRESS = "localhost:7830"  # spamc's own 783 is root's, or comes from systemd
DEFAULT_MILTER_ADDRESS = "localhost:7832"
MILTER_TIMEOUT = 7200.0  # seconds: a client may keep a mail server waiting for long
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Options:
    model: str
    listen: tuple[str, ...] = ()  # none: what systemd hands over, else the default
    workers: int = 1
    user_models: str | None = None
    allow_tell: bool = False
    header_style: str = "spamnb"
    metrics: str | None = None
    max_size: int = 50 * MEGABYTE
    timeout: float = 30.0
    max_connections: int = 256  # a worker
    user: str | None = None
    quiet: bool = False
    milter: bool = False  # the protocol, in place of spamd's
    milter_failure: str = "accept"
    reject: bool = False

    @classmethod
    def from_json(cls, text: str) -> Options:
        fields = json.loads(text)
        return cls(**fields | {"listen": tuple(fields["listen"])})

    def as_json(self) -> str:
        return json.dumps(asdict(self))
