"""Start `spamnb imap watch` for a test, and end it."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

from helpers.waiting import PATIENCE, until

# The program, which would wait for an hour where nobody answers: longer than any test.
PATIENT = """
import sys
from spamnb.imap import connection
from spamnb.__main__ import main
connection.TIMEOUTS = connection.SocketTimeout(connect=3600, read=3600)
sys.exit(main())
"""


class Watching:
    """A process of `spamnb imap watch`, started as by systemd and ended with the `with` block."""

    def __init__(self, home, *options):
        self.log_path = home.path / "log"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0spamnb-{home.path}")
        self.socket.settimeout(PATIENCE)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PATIENT, "imap", "watch", *options],
                env=home.environment | {"NOTIFY_SOCKET": f"@spamnb-{home.path}"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def said(self):
        """Return the next state reported to systemd."""
        return self.socket.recv(1000).decode().splitlines()[0]

    @property
    def log(self):
        return self.log_path.read_text()

    def wait_for(self, text, times=1):
        until(lambda: self.log.count(text) >= times, lambda: self.log)

    def ends_when_told(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0, self.log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.socket.close()


@contextmanager
def ready(home, *options):
    """Yield a `watch` that has visited (or failed to visit) each mailbox once; then check that it ends."""
    with Watching(home, *(options or ("--poll", "5"))) as watching:
        assert watching.said() == "READY=1"
        accounts = re.findall(r"^\[account\.(\w+)\]", home.config.read_text(), re.MULTILINE)
        until(lambda: all(f"{name}: " in watching.log for name in accounts), lambda: watching.log)
        yield watching
        watching.ends_when_told()
