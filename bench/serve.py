"""Measure the server with one client after the other, and with many at once, beside bogofilter and spamd."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

from clock import Weather, descendants, race
from peers import ENVIRONMENT, SPAMNB, Bogofilter, SpamAssassin, Spamnb
from rows import COLUMNS, Row, machine, milliseconds, spread
from tables import table

from corpora import Corpus, lay_out
from spamnb.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpora import Laid

LOOPBACK = "127.0.0.1"
# One client after the other, as a mail system starts them: a shell that does nothing else.
LOOP = 'for path do {command} < "$path" > /dev/null; done'
CLIENTS = 8
ONE_BY_ONE, TOGETHER = 100, 1600  # messages of a run
REPEATS = 7
USERS, CROWD, ASKED = 2000, 20, 4000  # with models of their own; clients at once; questions
LEARNED_BY_SPAMD = 500  # of each label: it takes 20 ms a message


class Server:
    """A process that listens at a port, until the end of the run."""

    def __init__(self, command: list[str], port: int) -> None:
        self.port = port
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection((LOOPBACK, port)).close()
                return
            except ConnectionRefusedError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise SystemExit(f"{command[0]} does not start") from None
                time.sleep(0.05)

    def end(self) -> None:
        """End its children first: only if the server waits for them does their time count as ours."""
        for child in list(descendants(self.process.pid))[1:]:
            os.kill(child, signal.SIGTERM)
        time.sleep(0.5)
        self.process.terminate()
        self.process.wait()

    @property
    def client(self) -> str:
        return f"spamc -d {LOOPBACK} -p {self.port}"

    def ask(self, raw: bytes, user: str = "nobody", asked: str = "CHECK") -> bytes:
        """Send a request as spamc does, without the time to start spamc."""
        head = f"{asked} SPAMC/1.5\r\nUser: {user}\r\nContent-length: {len(raw)}\r\n"
        head += "Message-class: spam\r\nSet: local\r\n" if asked == "TELL" else ""
        with socket.create_connection((LOOPBACK, self.port)) as client:
            client.sendall(head.encode() + b"\r\n" + raw)
            return b"".join(iter(lambda: client.recv(1 << 16), b""))


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as door:
        return int(door.getsockname()[1])


def ours(model: str, *options: str) -> Server:
    port = free_port()
    command = [SPAMNB, "serve", "--model", model, "--listen", f"{LOOPBACK}:{port}", *options]
    return Server(command, port)


def theirs(folder: str, mail: Laid) -> Server:
    """Start spamd with only its Bayes filter. As root, it must run as a user who can read the files."""
    peer = SpamAssassin(folder)
    peer.train(mail)
    subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
    port, conf = free_port(), peer.at("conf")
    command = ["spamd", "-L", "-x", "-C", conf, f"--siteconfigpath={conf}", "-p", str(port), "-i", LOOPBACK]
    command += ["-m", str(os.cpu_count()), "--min-children", str(os.cpu_count()), "-H", folder]
    return Server(command + (["-u", "nobody"] if os.getuid() == 0 else []), port)


def loop(command: str, paths: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", LOOP.format(command=command), "sh", *paths], env=ENVIRONMENT)


def each(command: str, paths: list[str]) -> Callable[[], float]:
    """Return a function that measures the seconds per message, one client after the other."""

    def run() -> float:
        start = time.perf_counter()
        loop(command, paths).wait()
        return (time.perf_counter() - start) / len(paths)

    return run


def at_once(command: str, paths: list[str]) -> Callable[[], float]:
    """Return a function that measures messages per second, with several clients."""

    def run() -> float:
        start = time.perf_counter()
        for process in [loop(command, paths[first::CLIENTS]) for first in range(CLIENTS)]:
            process.wait()
        return len(paths) / (time.perf_counter() - start)

    return run


def one_by_one(server: Server, beside: dict[str, str], paths: list[str]) -> Iterator[Row]:
    commands = {"spamnb": f"{server.client} -c", **beside}
    times = race({name: each(command, paths) for name, command in commands.items()}, REPEATS)
    for name, limit in (("bogofilter", 2.0), ("spamd", 0.333)):
        if name in times:
            ratio = times["spamnb"].median / times[name].median
            other = f"{name} {milliseconds(times[name])}"
            yield Row(f"spamc, beside {name}", milliseconds(times["spamnb"]), other, ratio, at_most=limit)


def many(server: Server, beside: dict[str, str], paths: list[str]) -> Iterator[Row]:
    commands = {"spamnb": f"{server.client} -c", **beside}
    rates = race({name: at_once(command, paths) for name, command in commands.items()}, REPEATS)
    said = {name: f"{found.median:,.0f} msg/s{spread(found)}" for name, found in rates.items()}
    others = ", ".join(f"{name} {said[name]}" for name in beside)
    rate = rates["spamnb"].median
    yield Row(f"{CLIENTS} clients", said["spamnb"], others, rate, at_least=300, unit="msg/s", digits=0)


def many_users(shared: str, model: str, folder: str, paths: list[str]) -> Iterator[Row]:
    """Yield rows for many users, each with a model whose base is a shared model.

    One user's model is damaged, one is missing, and one is locked while it should learn a message.
    """
    places = [os.path.join(folder, f"user{number}", "model.msgpack") for number in range(USERS)]
    for place in places:
        os.makedirs(os.path.dirname(place))
        shutil.copy(model, place)
    os.sync()  # else the kernel writes them while the server is measured
    damaged, missing, locked = places[:3]
    os.truncate(damaged, 1000)
    os.unlink(missing)
    server = ours(shared, "--user-models", folder, "--allow-tell")
    messages = [Path(path).read_bytes() for path in paths]

    def ask(number: int) -> tuple[float, bool]:
        user = f"user{number if number < 3 else random.randrange(USERS)}"
        start = time.perf_counter()
        answer = server.ask(messages[number % len(messages)], user)
        return time.perf_counter() - start, answer.startswith(b"SPAMD/1.1 0 EX_OK")

    try:
        with ThreadPoolExecutor(CROWD + 1) as clients, Lock(locked):
            lesson = clients.submit(server.ask, messages[0], "user2", "TELL")
            times, answered = zip(*clients.map(ask, range(ASKED)), strict=True)
        lesson.result()
    finally:
        server.end()
    slowest = 1000 * quantiles(times, n=100)[-1]
    name = f"{USERS:,} users, {CROWD} clients: 99 % within"
    rate = f"{sum(answered)} of {ASKED} answered, median {1000 * median(times):.0f} ms"
    yield Row(name, rate, "", slowest, at_most=60, unit="ms", digits=0)


def main() -> None:
    if not shutil.which("spamc"):
        sys.exit("spamc is not installed")
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as servers:
        os.chmod(folder, 0o755)
        corpus = Corpus.spamassassin()
        mail = lay_out(corpus, os.path.join(folder, "mail"))
        paths = random.Random(1).sample(mail.paths, TOGETHER)
        spamnb = Spamnb(os.path.join(folder, "spamnb"))
        spamnb.train(mail)
        server = ours(spamnb.model)
        servers.callback(server.end)
        beside, spamds = {}, {}
        if Bogofilter.missing() is None:
            bogofilter = Bogofilter(os.path.join(folder, "bogofilter"))
            bogofilter.train(mail)
            beside["bogofilter"] = f"bogofilter -C -d {bogofilter.folder}"
        else:
            notes.append("bogofilter: not installed")
        if shutil.which("spamd"):
            some = Corpus("some", corpus.ham[:LEARNED_BY_SPAMD], corpus.spam[:LEARNED_BY_SPAMD])
            spamd = theirs(os.path.join(folder, "spamd"), lay_out(some, os.path.join(folder, "some")))
            servers.callback(spamd.end)
            spamds["spamd"] = f"{spamd.client} -c"
        else:
            notes.append("spamd: not installed")
        weather = Weather()
        weather.look()
        rows = list(one_by_one(server, beside | spamds, paths[:ONE_BY_ONE]))
        rows += many(server, beside, paths)
        little = lay_out(Corpus("small", corpus.ham[:100], corpus.spam[:100]), os.path.join(folder, "little"))
        small = os.path.join(folder, "small.msgpack")
        command = [SPAMNB, "train", "--base", spamnb.model, "--model", small]
        subprocess.run([*command, little.mbox("ham"), little.mbox("spam")], env=ENVIRONMENT, check=True)
        rows += many_users(spamnb.model, small, os.path.join(folder, "users"), paths)
        weather.look()
    notes += [machine(), *weather.lines()]
    print(table(COLUMNS, [row.cells() for row in rows]))
    print("\n".join(notes))


if __name__ == "__main__":
    main()
