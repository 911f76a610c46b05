"""Run `spamnb imap` on a bad network, or kill it at any step; check the result of the next normal run."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass

from faults.worlds import state as model_state

from helpers.bad_network import BadNetwork, Weather
from helpers.forged_senders import SUBMITTED
from helpers.homes import hand_over
from helpers.imap_accounts import ImapHome
from helpers.imap_mailbox import as_on_the_wire, digest
from helpers.samples import ham, spam, work
from helpers.waiting import PATIENCE, until
from spamnb.history.queries import History
from spamnb.imap.state import Record, head_of, key_of
from spamnb.training.learn import learn

WHEN = 1_600_000_000
MAX_COMMANDS = {"run": 120, "train": 25}  # a run has about as many
# The program with all its imports done, which forks for each run and says which process that is. Where nobody
# will answer, waits that are minutes are short, else it is as users have it.
RUNNER = """
import json, os, sys
import spamnb.cli.imap, spamnb.imap.connection, spamnb.imap.training, spamnb.imap.visit
from spamnb.__main__ import main

spamnb.imap.training.FIRST_PAUSE = 0.001
spamnb.imap.training.FETCHED = spamnb.imap.visit.FETCHED = 3  # messages at once: more steps to be killed at
spamnb.imap.visit.JUDGED = 3
while line := sys.stdin.buffer.readline():
    order = json.loads(line)
    child = os.fork()
    if child:
        os.write(1, b"%d\\n" % child)
        os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        continue
    os.dup2(os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(1, 2)
    os.environ.update(order["environment"])
    if order["hasty"]:
        spamnb.imap.connection.TIMEOUTS = spamnb.imap.connection.SocketTimeout(connect=5, read=1)
    sys.argv = ["spamnb", *order["arguments"]]
    try:
        code = main()
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    os._exit(code)
"""


class Runner:
    """Starts `spamnb` again and again, each time as a new process that can be killed."""

    def __init__(self, environment):
        command, pipe = [sys.executable, "-c", RUNNER], subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe)
        assert self.process.stdin
        assert self.process.stdout
        self.orders, self.answers = self.process.stdin, self.process.stdout

    def start(self, arguments, environment, output, hasty):
        order = {"arguments": arguments, "environment": environment, "output": str(output), "hasty": hasty}
        self.orders.write(json.dumps(order).encode() + b"\n")
        self.orders.flush()
        return int(self.answers.readline())

    def wait(self):
        return int(self.answers.readline())

    def end(self):
        self.process.communicate(timeout=PATIENCE)


def unknown(word):
    """Return a message of whose words the model has learned nothing."""
    return b"Subject: %sa %sb %sc\n\n%sd %se\n" % (5 * (word,))


def offer(n, sender=b"rich@loan.example"):
    """Return spam of another topic than `spam`, so that corrections of that do not change its verdict."""
    return b"From: %s\nSubject: mortgage rates %d\n\nrefinance today, lowest mortgage, apply %d\n" % (
        sender,
        n,
        n,
    )


FRIEND = SUBMITTED + offer(80, b"pal@loan.example")


FIRST = [ham(99), ham(98), *(spam(n) for n in range(90, 96))]
THEN = [ham(97), *(offer(n) for n in range(1, 5)), unknown(b"uvw"), FRIEND, work(96)]
BY_PROVIDER = work(94)  # put into Junk, to be moved back
RAW = [*FIRST, unknown(b"xyz"), BY_PROVIDER, *THEN]
BY_DIGEST = {digest(raw): raw for raw in RAW}
KEYS = {digest(raw): key_of(head_of(as_on_the_wire(raw))) for raw in RAW}


@dataclass(frozen=True)
class Outcome:
    """What a run leaves: the mail in the mailbox, and what model, state and history have about it."""

    places: dict  # digest: folder, flags and date of each copy that is not deleted
    deleted: dict
    learned: dict
    counts: object
    rows: dict  # digest: what the state says
    corrections: dict  # digest: what the history says, each time that it was judged


class Sea:
    """A mailbox with mail to judge and mistakes to learn from, restored before each test (`attack`)."""

    def __init__(self, server, spamnb, folder, runner, model):
        """Make mailbox and home; `model` has three labels, one of which is `work`."""
        self.server, self.runner = server, runner
        self.home = ImapHome(spamnb, folder / "home")
        shutil.copy(model, self.home.model)
        self.output = folder / "output"
        self.kept = folder / "kept"
        for n in range(200, 240):
            learn(self.home.model, offer(n), "spam")
            learn(self.home.model, ham(n), "ham")
        junk, unsure, jobs = map(server.name, ("Junk", "Perhaps", "Jobs"))
        server.create(unsure)
        server.create(jobs)
        self.options = {"unsure": unsure, "ham": [server.name("Archive")], "history": True}
        self.options["rescue"] = "move"
        self.options["sort"] = {"work": jobs}
        server.append(server.name("Sent"), b"To: pal@loan.example\n\nhello\n")
        for raw in FIRST:
            server.append("INBOX", raw, r"\Flagged", WHEN)
        self.home.add(server, **self.options)
        assert self.run("run") == 0, self.output.read_text()
        self.home.mark(spam(94), "ham")
        assert self.run("run") == 0, self.output.read_text()
        self.home.mark(spam(94), None)  # another thought
        self.home.mark(spam(95), "ham")  # six mistakes
        self._move(spam(90), junk, "INBOX")
        self._move(spam(91), junk, server.name("Archive"))
        self._move(ham(98), "INBOX", junk)
        server.append(junk, unknown(b"xyz"), r"\Answered", WHEN)
        server.append(junk, BY_PROVIDER, r"\Answered", time.time())
        self.server.flag("INBOX", self._uid("INBOX", ham(99)), "$Junk")
        for raw in THEN:
            server.append("INBOX", raw, r"\Answered", WHEN + 1)
        shutil.copytree(server.maildir, self.kept / "Maildir")
        shutil.copytree(self.home.path, self.kept / "home")
        self.expected = {}
        for command in ("run", "train"):
            self.lay_out()
            assert self.run(command) == 0, self.output.read_text()
            self.expected[command] = self.look()
        found = self.expected["run"].places
        expected = {offer(1): junk, unknown(b"uvw"): unsure, FRIEND: "INBOX", ham(98): junk, work(96): jobs}
        with server.connect() as client:
            if client.has_capability("UIDPLUS"):
                expected |= {spam(94): junk, spam(95): "INBOX", BY_PROVIDER: "INBOX"}
            else:
                expected[BY_PROVIDER] = junk
        for raw, place in expected.items():
            assert found[digest(raw)][0][0] == place, raw

    def _uid(self, folder, raw):
        return next(found.uid for found in self.server.contents()[folder] if found.digest == digest(raw))

    def _move(self, raw, source, target):
        self.server.move(source, self._uid(source, raw), target)

    def lay_out(self):
        """Restore the mailbox and the home as they were at the start."""
        for path, kept in ((self.server.maildir, "Maildir"), (self.home.path, "home")):
            gone = path.with_name(f"gone-{time.time_ns()}")
            path.rename(gone)
            shutil.copytree(self.kept / kept, path)
            shutil.rmtree(gone, ignore_errors=True)
        hand_over(self.server.maildir)

    def run(self, command, port=None, pids=None, hasty=False):
        """Run `spamnb imap COMMAND` to its end; return the exit code. The process id is added to `pids`."""
        self.home.change(self.server, port=port, **self.options)
        pid = self.runner.start(["imap", command], self.home.environment, self.output, hasty)
        (pids if pids is not None else []).append(pid)
        late = threading.Timer(PATIENCE, os.kill, (pid, signal.SIGABRT))
        late.start()
        code = self.runner.wait()
        late.cancel()
        assert code != -signal.SIGABRT, "it hangs"
        assert "spamnb: unexpected" not in self.output.read_text(errors="replace"), self.output.read_text()
        return code

    def look(self):
        places: dict = {}
        deleted: dict = {}
        by_place = {}
        for name, messages in self.server.contents().items():
            for message in messages:
                copies = deleted if r"\Deleted" in message.flags else places
                copies.setdefault(message.digest, []).append((name, message.flags, message.date))
                by_place[name, message.uid] = message.digest
        model = model_state(self.home.model)
        rows = {}
        with closing(sqlite3.connect(self.home.state_path())) as database:
            for known in map(
                Record._make, database.execute(f"SELECT {', '.join(Record._fields)} FROM message")
            ):
                key = KEYS.get(by_place.get((known.folder, known.uid), ""))
                # Who moved it is not known for certain, once its owner said what it is.
                ours = known.ours and not known.label
                rows[known.key] = (
                    key == known.key,
                    known._replace(uid=0, validity=0, time=0, since=0, ours=ours),
                )
        with History.open(str(self.home.history_path)) as history:
            history.gather()
            corrections: dict = {}
            for entry in history.entries("time", limit=1000):
                corrections.setdefault(entry.digest, []).append((entry.verdict, entry.correction))
        return Outcome(places, deleted, model.learned, model.counts, rows, corrections)

    def storm(self, command, weather, kill):
        """Run a command on a bad network; with `kill`, kill the process just before each cut."""
        victim: list[int] = []
        hasty = weather.stall_received is not None  # what it waits for never comes
        with BadNetwork(self.server.port, weather) as network:
            if kill:
                network.before_cut = lambda: kill_all(until(lambda: victim))
            code = self.run(command, network.port, victim, hasty)
            network.settle()
        return code

    def attack(self, seed):
        """Run storms chosen at random by `seed`, then two normal runs; check the result of each by `hold`."""
        chance = random.Random(seed)
        self.lay_out()
        command = "train" if chance.random() < 0.15 else "run"
        codes, reported = [], [f"seed {seed}: {command}"]
        for _ in range(chance.choice((1, 1, 2, 3))):
            weather, kill = any_weather(chance, command), chance.random() < 0.5
            reported.append(f"{weather}, kill {kill}")
            codes.append(self.storm(command, weather, kill))
        about = "; ".join(reported) + f"; ended with {codes}"
        for _ in range(2):
            assert self.run(command) == 0, f"{about}\n{self.output.read_text()}"
            self.hold(command, about)
        return codes

    def hold(self, command, about):
        """Check that all is as if there had been no storm."""
        expected, found = self.expected[command], self.look()
        for name in vars(expected):
            one, other = getattr(expected, name), getattr(found, name)
            assert one == other, f"{about}\n{name}: {differences(one, other)}"


def differences(one, other):
    if isinstance(one, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        return [(BY_DIGEST.get(key, key), one.get(key), other.get(key)) for key in keys]
    return "differs"


def kill_all(pids):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def any_weather(chance, command):
    if chance.random() < 0.3:
        return Weather(stall_received=int(chance.expovariate(1 / 4000)))
    when = chance.choice(("lost", "silent", "half", "answered"))
    nth = chance.randrange(1, MAX_COMMANDS[command])
    return Weather(cut_at=b"", nth=nth, cut_when=when, reset=chance.random() < 0.5)
