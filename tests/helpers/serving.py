"""Run a real server, and talk to it in two ways: with bytes on a socket, and with spamc."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

from helpers.waiting import PATIENCE, stand_still, until
from spamnb.serve.clients import Connection
from spamnb.serve.options import Options

LOOPBACK = "127.0.0.1:0"
SPAM = (
    b"To: you@example.org\nDate: Mon, 15 Nov 2026 03:00:00 -0800\nSubject: cheap pills\n\n"
    b"buy viagra now, casino bonus, CHEAP pills!!! http://casino.example/win1\n"
)
# With options that the command has not, such as short timeouts.
START = """
import json, sys
from spamnb.serve.options import Options
from spamnb.serve.server import Server
Server(Options(**json.load(sys.stdin))).run()
"""


def configured(folder, text):
    """Write `text` as spamnb.toml below a folder; return the variables that make a program read it."""
    (folder / "spamnb").mkdir(exist_ok=True)
    (folder / "spamnb" / "spamnb.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}


class Client:
    """A client of the server at an address."""

    def __init__(self, address):
        self.address = address

    def connect(self, address=None):
        address = address or self.address.partition(" and ")[0]
        client = socket.socket(socket.AF_UNIX if address.startswith("unix:") else socket.AF_INET)
        client.settimeout(PATIENCE)
        host, _, port = address.rpartition(":")
        try:
            client.connect(address[5:] if host == "unix" else (host, int(port)))
        except OSError:
            client.close()
            raise
        return client

    def ask(self, request, end=True, address=None):
        """Send a request, and return all that the server sends back."""
        with self.connect(address) as client:
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(request)
            if end:
                client.shutdown(socket.SHUT_WR)
            return everything(client)


class Serving(Client):
    """A process of `spamnb serve`, whose log goes to a file."""

    def __init__(self, spamnb, folder, command=None, env=None, **options):
        self.log_path = folder / f"log-{len(os.listdir(folder))}"
        asked = Options(**{"model": spamnb.model, "listen": (LOOPBACK,), **options})
        command = command or [sys.executable, "-P", "-c", START]
        (stdin := folder / "options").write_text(json.dumps(asdict(asked)))
        with open(self.log_path, "wb") as log, open(stdin, "rb") as given:
            self.process = subprocess.Popen(
                command,
                stderr=log,
                stdin=given,
                env=(env or {}) | spamnb.environment,
                cwd=spamnb.home,
                start_new_session=True,
            )
        line = self.wait_for("serving at ")
        places = line.partition("serving at ")[2].partition(";")[0]
        address, _, self.http = places.partition(", HTTP at ")
        super().__init__(address)

    @property
    def log(self):
        return self.log_path.read_text()

    def wait_for(self, text):
        """Wait until the log has a line with `text`, and return the first such line."""

        def found():
            has_ended = self.process.poll() is not None  # before the log is read for the last time
            for line in self.log.splitlines(keepends=True):
                if text in line and line.endswith("\n"):
                    return line.strip()
            assert not has_ended, f"no {text!r} in the log:\n{self.log}"
            return None

        return until(found, lambda: f"no {text!r} in the log:\n{self.log}")

    def spamc(self, *arguments, stdin=b""):
        host, _, port = self.address.rpartition(":")
        where = ["-U", self.address[5:]] if host == "unix" else ["-d", host, "-p", port]
        ended = subprocess.run(
            ["spamc", "-l", *where, *arguments], input=stdin, capture_output=True, timeout=PATIENCE
        )
        return ended.returncode, ended.stdout

    def stop(self):
        """Stop the server as systemd does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    @property
    def has_a_client(self):
        """Return whether a client is connected, even if the server has not accepted it yet."""
        host, _, port = self.address.rpartition(":")
        with open("/proc/net/unix" if host == "unix" else "/proc/net/tcp") as file:
            sockets = [line.split() for line in file][1:]
        if host == "unix":
            return any(socket[5] in ("02", "03") and socket[-1] == port for socket in sockets)
        established = ("01", "08")  # the client may have said all
        return any(socket[1].endswith(f":{int(port):04X}") and socket[3] in established for socket in sockets)

    def end_when_asked(self):
        """Pause the server; as soon as a client is connected and waits for an answer, kill the server."""
        stand_still(self.process.pid)

        def end():
            until(lambda: self.has_a_client)
            self.end()

        threading.Thread(target=end).start()

    def end(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Spoken(Connection):
    """A connection without a socket: the server reads these pieces from the client, then the end."""

    def __init__(self, pieces):
        self.pieces = iter([piece for piece in pieces if piece])
        self.peer = None
        self.data = bytearray()
        self.begun = self.ended = self.complete = False
        self.heard = b""

    def hold(self, size):
        pass

    @asynccontextmanager
    async def waiting(self, seconds=None):  # noqa: ARG002
        yield

    async def receive(self):
        piece = next(self.pieces, b"")
        self.ended = not piece
        return piece

    async def write(self, data):
        self.heard += data

    def talk(self, handler):
        """Return all that the server answers to these pieces."""
        try:
            handler(self).send(None)
        except StopIteration as end:
            return self.heard + end.value
        raise AssertionError("it waits for a client who has ended")


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(word) for word in file.read().split()]


def refuses(server):
    """Return whether a server does not listen: not yet, or no longer."""
    try:
        server.connect().close()
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    return False


def everything(client):
    pieces = []
    while piece := client.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def request(command, raw=b"", version="1.5", **headers):
    """Return a request as spamc makes it; headers that are None are left out."""
    return with_headers(f"{command} SPAMC/{version}", {"Content_length": len(raw), **headers}, raw)


def post(path, raw=b"", **headers):
    """Return a request as a client of rspamd makes it."""
    headers = {"Host": "localhost", "Content_Length": len(raw), **headers}
    return with_headers(f"POST {path} HTTP/1.1", headers, raw)


def with_headers(line, headers, raw):
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items() if value is not None]
    return f"{line}\r\n{''.join(lines)}\r\n".encode() + raw
