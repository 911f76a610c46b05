"""IMAP servers that start once; each test finds their folders empty."""

import pytest
from helpers.imap_accounts import ImapHome
from helpers.imap_servers import DovecotImap
from helpers.programs import require

POOR = ("MOVE", "CONDSTORE", "QRESYNC", "SPECIAL-USE", "ESEARCH", "LITERAL+", "IDLE")


@pytest.fixture(scope="session")
def _running():
    """Servers by what was asked of them, started when a test first wants them."""
    servers: dict = {}
    yield servers
    for server in servers.values():
        server.__exit__()


@pytest.fixture
def dovecot_with(_running):
    """A Dovecot of some kind: `dovecot_with(without=("MOVE",))`."""

    def started(**options):
        require("dovecot")
        require("openssl")  # for its certificate
        key = tuple(sorted(options.items()))
        if key not in _running:
            _running[key] = DovecotImap(**options).__enter__()
        _running[key].wipe()
        return _running[key]

    return started


@pytest.fixture
def dovecot(dovecot_with):
    return dovecot_with()


@pytest.fixture(params=[{}, {"without": POOR, "below_inbox": True}], ids=["rich", "poor"])
def server(dovecot_with, request):
    """One that can do all, and one that can do little."""
    return dovecot_with(**request.param)


@pytest.fixture
def home(spamnb, tmp_path):
    """`spamnb imap`, with a copy of the model."""
    return ImapHome(spamnb, tmp_path)
