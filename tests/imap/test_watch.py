"""`spamnb imap watch`: mail that arrives is judged at once, whatever the server and the network do."""

import os
import pty
import select
import signal
import subprocess
import threading

from helpers.bad_network import BadNetwork, Weather
from helpers.imap_accounts import folders
from helpers.imap_watching import Watching, ready
from helpers.samples import ham, spam
from helpers.waiting import PATIENCE, until


def test_a_mark_on_the_page_moves_mail_at_once(dovecot, home):
    home.add(dovecot, history=True)
    junk = dovecot.name("Junk")
    with ready(home) as watching:
        dovecot.append("INBOX", spam(99))
        watching.wait_for(f"moved to {junk}")
        home.mark(spam(99), "ham")
        watching.wait_for("marked by you: moved to INBOX")
        assert [*folders(dovecot)] == ["INBOX"]


def judge_spam(server, watching):
    server.append("INBOX", spam(99))
    until(lambda: folders(server).get(server.name("Junk")), lambda: watching.log)


def test_mail_is_judged_as_it_comes(server, home):
    home.add(server)
    server.append("INBOX", ham(99))
    with Watching(home, "--poll", "5") as watching:
        assert watching.said() == "READY=1"
        judge_spam(server, watching)
        assert proportional_memory(watching.process.pid) < 60e6
        with open(f"/proc/{watching.process.pid}/cmdline") as file:  # what `ps` shows to all
            assert server.password not in file.read()
        watching.ends_when_told()
        assert watching.said() == "STOPPING=1"
        assert "not spam\t" in watching.log
        for secret in ("pills", "casino", server.password):  # no subjects in a log
            assert secret not in watching.log


def test_senders_are_shown_on_a_terminal(dovecot, home):
    home.add(dovecot)
    dovecot.append("INBOX", spam(99))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [home.spamnb.program, "imap", "watch"], stdout=theirs, stderr=theirs, env=home.environment
    ) as watching:
        seen = b""
        while b"Win <win@casino.example>\tcheap pills 99" not in seen:
            assert select.select([ours], [], [], PATIENCE)[0], seen
            seen += os.read(ours, 65536)
        watching.terminate()
    os.close(ours)
    os.close(theirs)


def proportional_memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


def test_the_file_is_read_again(dovecot, home):
    home.add(dovecot, action="nothing")
    with ready(home) as watching:
        good = home.config.read_text()
        home.config.write_text("nonsense")
        watching.process.send_signal(signal.SIGHUP)
        watching.wait_for("continuing with the accounts as before")
        home.config.write_text(good.replace('"nothing"', '"move"'))
        watching.process.send_signal(signal.SIGHUP)
        assert (watching.said(), watching.said()) == ("RELOADING=1", "READY=1")
        judge_spam(dovecot, watching)


def test_a_connection_is_cut(dovecot, home):
    with BadNetwork(dovecot.port) as network:
        home.add(dovecot, port=network.port)
        with ready(home) as watching:
            network.cut()
            watching.wait_for("connection lost")
            judge_spam(dovecot, watching)
            watching.wait_for("works again")


def test_a_connection_that_stalls_does_not_hold_up_the_end(dovecot, home):
    has_stalled = threading.Event()
    with BadNetwork(dovecot.port, Weather(stall_received=1500)) as network:
        network.before_cut = has_stalled.set
        home.add(dovecot, port=network.port)
        with Watching(home) as watching:
            assert has_stalled.wait(PATIENCE)
            watching.ends_when_told()
