"""IMAP servers that start once; each test finds their folders empty."""

import pytest
from helpers.imap_accounts import ImapHome
from helpers.imap_servers import CourierImap, DovecotImap
from helpers.programs import require


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
        return fresh(_running, DovecotImap, options)

    return started


@pytest.fixture
def dovecot(dovecot_with):
    return dovecot_with()


@pytest.fixture
def courier(_running):
    require("courier")
    return fresh(_running, CourierImap, {})


@pytest.fixture(params=["dovecot", "courier"])
def server(request):
    """Each of the two."""
    return request.getfixturevalue(request.param)


def fresh(running, kind, options):
    key = (kind, *sorted(options.items()))
    if key not in running:
        running[key] = kind(**options).__enter__()
    running[key].wipe()
    return running[key]


@pytest.fixture
def home(spamnb, tmp_path):
    """`spamnb imap`, with a copy of the model."""
    return ImapHome(spamnb, tmp_path)
