"""Run a Postfix for a test, with a separate configuration and queue, and free ports."""

import os
import re
import shutil
import signal
import smtplib
import subprocess
from collections.abc import Sequence

import pytest

from helpers.homes import NOBODY
from helpers.passthrough import without_forged
from helpers.ports import answers, free_ports
from helpers.programs import needs
from helpers.waiting import PATIENCE, until

PROGRAMS = "/usr/lib/postfix/sbin"
# For nobody else, /etc/postfix is another folder.
IN_PLACE = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/postfix && exec "$@"']
QUEUE_NAMES = "active bounce corrupt defer deferred flush hold incoming maildrop private public saved trace"
QUEUES = [f"queue/{name}" for name in QUEUE_NAMES.split()]
SENDER, RECIPIENT = "ann@sender.example", "bob@example.org"

# What any Postfix has, before the page; and all mail goes into one Maildir.
MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
daemon_directory = {programs}
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
myhostname = mx.example.org
mydestination =
inet_protocols = ipv4
virtual_mailbox_domains = example.org
virtual_mailbox_base = {home}
virtual_mailbox_maps = static:Maildir/
virtual_uid_maps = static:{user}
virtual_gid_maps = static:{user}
virtual_mailbox_limit = 0
message_size_limit = 0
local_header_rewrite_clients =
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
in_flow_delay = 0
"""
# Debian's, but for those that nobody needs here.
MASTER = """
pickup    unix  n       -       y       60      1       pickup
cleanup   unix  n       -       y       -       0       cleanup
qmgr      unix  n       -       n       300     1       qmgr
rewrite   unix  -       -       y       -       -       trivial-rewrite
bounce    unix  -       -       y       -       0       bounce
defer     unix  -       -       y       -       0       bounce
retry     unix  -       -       y       -       -       error
proxymap  unix  -       -       n       -       -       proxymap
anvil     unix  -       -       y       -       1       anvil
virtual   unix  -       n       n       -       -       virtual
postlog   unix-dgram n  -       n       -       1       postlogd
"""
USER = re.compile(rb"^Delivered-To: (\d+)@", re.MULTILINE)
SMTP = "smtp inet n - y - - smtpd\n"
UNFILTERED = "127.0.0.1:{port} inet n - y - - smtpd -o smtpd_milters=\n"

# The header about how a message came in.
RECEIVED = re.compile(rb"^Received: from .*\n\tby mx\.example\.org .*\n(\t.*\n)*", re.MULTILINE)

needs_postfix = [needs("postfix"), pytest.mark.skipif(os.getuid() != 0, reason="only root can start Postfix")]


class Postfix:
    """A Postfix set up as a page says, but at free ports; mail sent to one of them is not filtered."""

    process = None
    on: Sequence[str] = ()  # what it is started by
    in_place = False  # what is sent from within must find it in /etc/postfix

    def __init__(self, home, main="", master=SMTP):
        self.home = home
        self.folder = home.path.parent / "postfix"
        self.port, self.unfiltered = free_ports(2)
        self._make_folders()
        places = {"folder": self.folder, "home": home.path, "user": NOBODY, "programs": PROGRAMS}
        self._write("main.cf", MAIN.format(**places) + main)
        master = re.sub("^smtp ", f"127.0.0.1:{self.port} ", master, flags=re.MULTILINE)
        self._write("master.cf", MASTER + UNFILTERED.format(port=self.unfiltered) + master)

    def _make_folders(self):
        for name in ("etc", "queue/pid"):
            (self.folder / name).mkdir(parents=True)
        for name in ("data", *QUEUES):
            (self.folder / name).mkdir(mode=0o700)
            shutil.chown(self.folder / name, "postfix", "postdrop")
        (self.folder / "queue/public").chmod(0o710)
        (self.folder / "queue/maildrop").chmod(0o1730)
        self.home.maildir.mkdir()
        os.chown(self.home.maildir, NOBODY, NOBODY)

    def _write(self, name, text):
        """Write a file with an old date, since Postfix waits until a file is two seconds old."""
        path = self.folder / "etc" / name
        path.write_text(text)
        os.utime(path, (0, 0))

    def __enter__(self):
        etc, run = self.folder / "etc", [f"{PROGRAMS}/master", "-d"]
        command = [*IN_PLACE, etc, *run] if self.in_place else [*run, "-c", etc]
        command = [*self.on, *command]
        self.process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        self.wait_until(
            lambda: self.process.poll() is not None or (answers(self.port) and answers(self.unfiltered))
        )
        assert self.process.poll() is None, self.log
        return self

    def __exit__(self, *_):
        """Kill Postfix and all its processes, and print the log, which pytest shows if the test failed."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            print(self.log)

    @property
    def log(self):
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_until(self, found):
        return until(found, lambda: self.log)

    def connect(self, port=None):
        client = smtplib.SMTP(timeout=PATIENCE, local_hostname="client.example")
        client.connect("127.0.0.1", port or self.port)
        return client

    def send(self, raw, port=None):
        with self.connect(port) as client:
            client.sendmail(SENDER, [RECIPIENT], as_on_the_wire(raw))

    def delivered(self, count=1):
        """Wait for `count` delivered messages, check that there are no more, and return them."""
        found: list[bytes] = []

        def enough():
            found.extend(what for _, what in self.home.taken())
            return len(found) >= count

        self.wait_until(enough)
        assert len(found) == count
        return found

    def deliver(self, raw, port=None):
        (what,) = self.deliver_all([raw], port)
        return what

    def deliver_all(self, messages, port=None):
        """Send messages in one session, each to another user; return them as delivered, in the same order."""
        with self.connect(port) as client:
            for place, raw in enumerate(messages):
                client.sendmail(SENDER, [f"{place}@example.org"], as_on_the_wire(raw))
        found = {int(USER.findall(what)[0]): what for what in self.delivered(len(messages))}
        return [found[place] for place in range(len(messages))]

    def deliver_unfiltered(self, *messages):
        return self.deliver_all(messages, self.unfiltered)

    def run(self, program, *arguments):
        """Run one of Postfix's own programs for this Postfix."""
        subprocess.run([program, "-c", self.folder / "etc", *arguments], check=True, timeout=PATIENCE)

    def waiting(self):
        """Return how many messages wait because they could not be delivered yet."""
        return sum(len(files) for _, _, files in os.walk(self.folder / "queue" / "deferred"))


def as_on_the_wire(raw):
    return re.sub(rb"\r?\n", b"\r\n", raw)


def halves(delivered):
    """Return the headers that servers put on top of a delivered message, and the message itself."""
    head, _, message = RECEIVED.split(delivered, maxsplit=1)
    return head, message


def verdict_in(delivered):
    """Return the only X-Spamnb header; check that it is above the message, where no sender can write."""
    head, message = halves(delivered)
    (header,) = (line for line in head.splitlines() if line.startswith(b"X-Spamnb: "))
    assert without_forged(message) == message
    return header.decode()


def score_of(delivered):
    return float(verdict_in(delivered).partition("score=")[2].partition(";")[0])


def check(without, delivered):
    """Check that mail delivered with the filter differs from mail without it only in the verdict's header."""
    assert halves(delivered)[1] == without_forged(halves(without)[1])
    assert verdict_in(delivered)


def check_unfiltered(without, delivered):
    assert halves(delivered)[1] == halves(without)[1]
    assert b"X-Spamnb" not in halves(delivered)[0]
