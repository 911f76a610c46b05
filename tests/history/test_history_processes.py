"""The history as programs make it: many at once, killed, without room; it never costs a delivery."""

import itertools
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from helpers.reviewing import Forms, remembered, served
from helpers.samples import ham, spam
from helpers.serving import Serving, request
from helpers.tiers import LONG
from helpers.waiting import PATIENCE

from spamnb.databases import DAMAGED, transaction
from spamnb.history.log import MAX_MESSAGE, file_names, hash_of_raw
from spamnb.history.queries import History
from spamnb.history.schema import NAME
from spamnb.store.stored_model import StoredModel

pytestmark = pytest.mark.slow

MARKS = 50
START = "import sys; from spamnb.__main__ import main; sys.exit(main())"
# Appends messages named by its number and a count, some of them large, and says so after each.
APPENDING = """
import random, sys
from spamnb.bayes.verdict import Verdict
from spamnb.history.log import HistoryLog

folder, number, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
log, chance = HistoryLog(folder=folder), random.Random(number)
for count in range(most):
    body = chance.randbytes(chance.choice((10, 5000, 5000, 150_000)))
    verdict = Verdict("spam", 1.0, 0.5, {}, (), None)
    log.append(b"Subject: %d-%d\\n\\n%s" % (number, count, body), verdict, "/nosuch", "classify")
    print(count, flush=True)
"""


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "history")


def appending(folder, number, most):
    command = [sys.executable, "-c", APPENDING, folder, str(number), str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)


def fork(action):
    """A process that runs a function."""
    child = os.fork()
    if not child:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def forked(action):
    """A process that runs a function; it is killed at the end, if it runs still, and must not have failed."""
    child = fork(action)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        code = exit_code(child)
    assert code in (0, -signal.SIGKILL)


def gather(folder):
    with History.open(folder) as history:
        return history.gather()


def gathered(folder):
    """How often each subject is in the history, after all is gathered."""
    gather(folder)
    with History.open(folder) as history:
        return Counter(entry.subject for entry in history.entries("time", limit=10**6))


def test_processes_append_while_two_gather(folder):
    """One of them is killed meanwhile: what it said is there is there."""
    started = [appending(folder, number, 50) for number in range(4)]

    def gather_on():
        while True:
            if os.path.isdir(folder):
                gather(folder)

    with forked(gather_on), forked(gather_on):
        with appending(folder, 4, 10**6) as victim:
            first = victim.stdout.readline()
            victim.kill()
            said = {f"4-{int(line)}" for line in (first + victim.stdout.read()).split()}
        for process in started:
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
    found = gathered(folder)
    assert found.keys() >= said | {f"{number}-{count}" for number in range(4) for count in range(50)}
    assert set(found.values()) == {1}


def visit_on(folder, model):
    """Do what visits of `spamnb imap watch` do with the history: look for marks, and note what was moved."""
    since = 0.0
    for number in itertools.count():
        with History.open(folder) as history:
            history.gather()
            for entry in history.corrected_since(since, "classify"):
                assert history.message(entry.id)
                since = max(since, entry.corrected or 0.0)
        with History.open(folder) as history:
            history.gather()
            ids = history.with_hash(hash_of_raw(spam(number % MARKS)), model, "spam")
            history.remember_labels(dict.fromkeys(ids, None))
            history.correct(ids, "spam")


def test_marks_on_the_page_beside_visits_leave_the_history_sound(spamnb, own, folder):
    """In each round fifty messages are marked, and that is undone; four requests at once."""
    remembered(folder, own, map(spam, range(MARKS)))
    rounds, numbers = 50 if LONG else 1, range(1, MARKS + 1)
    with served(spamnb, "--model", own, "--history-folder", folder) as page:
        forms = Forms(page)
        for _ in range(rounds):
            with forked(partial(visit_on, folder, own)), ThreadPoolExecutor(4) as threads:
                assert set(threads.map(lambda id_: forms.send({"one": f"{id_}:spam"}), numbers)) == {200}
                assert set(threads.map(lambda id_: forms.send({"undo": f"{id_}"}), numbers)) == {200}
            with closing(sqlite3.connect(os.path.join(folder, NAME))) as database:
                assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not [name for name in os.listdir(folder) if DAMAGED in name]


def test_gathering_that_is_killed_neither_loses_nor_doubles(folder):
    """Killed before each of its statements, and before none in the end."""
    for number in range(2):
        appending(folder, number, 2).communicate(timeout=PATIENCE)
        for statement in itertools.count(1):
            code = exit_code(fork(partial(gather_up_to, folder, statement)))
            if code == 0:
                break
            assert code == -signal.SIGKILL
        assert statement > 10
    assert gathered(folder) == {f"{number}-{count}": 1 for number in range(2) for count in range(2)}


def gather_up_to(folder, statement):
    """Gather, but die before a statement."""
    with History.open(folder) as history:
        statements = itertools.count(1)

        def strike(_):
            if next(statements) == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        history.database.set_trace_callback(strike)
        history.gather()


def state_of(spamnb, folder):
    return spamnb.environment | {"XDG_STATE_HOME": str(folder)}


def no_file_beyond(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_costs_the_history_not_the_mail(spamnb, mail, tmp_path):
    """Half a record fits: it is left behind, and skipped later."""
    env, raw = state_of(spamnb, tmp_path), mail.messages["spam"]
    right = spamnb.afresh("classify", "-p", stdin=raw).succeeds()
    assert spamnb.afresh("classify", "-p", "--history", stdin=raw, env=env) == right
    folder = tmp_path / "spamnb" / "history"
    written = os.path.getsize(folder / file_names(str(folder))[0])
    for room in (written + written // 2, 0):
        limit = no_file_beyond(room)
        done = spamnb.afresh("classify", "-p", "--history", stdin=raw, env=env, preexec_fn=limit)
        assert (done.code, done.out) == (right.code, right.out)
        assert done.err.startswith(b"spamnb: the verdict is not in the history: ")
        assert done.err.count(b"\n") == 1
    assert os.path.getsize(folder / file_names(str(folder))[0]) == written + written // 2
    spamnb.afresh("classify", "--history", stdin=raw, env=env).succeeds()
    assert gather(str(folder)) == 2


def test_a_history_that_cannot_be_kept_costs_no_mail(spamnb, mail, tmp_path):
    (tmp_path / "spamnb").write_bytes(b"")
    env = state_of(spamnb, tmp_path)
    for flags in (["-e"], ["-e", "-"]):  # a delivery, and by the command line
        done = spamnb.afresh("classify", "--history", *flags, stdin=mail.messages["ham"], env=env)
        assert (done.code, done.out.split()[0]) == (1, b"ham")
        assert done.err.startswith(b"spamnb: the verdict is not in the history: ")
        assert done.err.count(b"\n") == 1


def test_a_server_keeps_it(spamnb, mail, tmp_path):
    server = Serving(spamnb, tmp_path, history=True, env={"XDG_STATE_HOME": str(tmp_path)})
    try:
        for kind in ("spam", "ham"):
            for command in ("CHECK", "PROCESS"):
                assert b"EX_OK" in server.ask(request(command, mail.messages[kind], User="ann"))
        assert server.stop() == 0
    finally:
        server.end()
    with History.open(str(tmp_path / "spamnb" / "history")) as history:
        assert history.gather() == 4
        found = history.entries("time")
        assert Counter(entry.verdict for entry in found) == {"spam": 2, "ham": 2}
        assert {(one.source, one.user, one.model) for one in found} == {("serve", "ann", spamnb.model)}
        assert history.message(found[0].id) in mail.messages.values()


def figures(spamnb, env):
    found = spamnb("history", "--summary", "--json", env=env).succeeds().json
    return {name: found[name] for name in ("corrected", "ham_lost", "spam_missed")}


def test_what_is_trained_under_another_label_counts_as_corrected(spamnb, mail, own, tmp_path):
    """One message as a delivery learns it, and mailboxes; forgotten, it counts no more."""
    env = state_of(spamnb, tmp_path) | {"SPAMNB_MODEL": own}
    spamnb("train", "--ham", "-", stdin=ham(98), env=env).succeeds()  # nobody keeps a history
    assert not (tmp_path / "spamnb").exists()
    for raw in (ham(97), ham(98), ham(99), spam(99), mail.messages["unsure"]):
        spamnb("classify", "--history", stdin=raw, env=env).succeeds()
    spamnb.afresh("train", "--ham", "-", stdin=ham(97), env=env).succeeds()  # as it was judged
    assert figures(spamnb, env) == {"corrected": 0, "ham_lost": 0, "spam_missed": 0}
    spamnb.afresh("train", "--ham", "-", stdin=spam(99), env=env).succeeds()
    assert figures(spamnb, env) == {"corrected": 1, "ham_lost": 1, "spam_missed": 0}
    folder = tmp_path / "moved"
    folder.mkdir()
    for name, raw in (("1", ham(98)), ("2", ham(99)), ("3", mail.messages["unsure"])):
        (folder / name).write_bytes(raw)
    spamnb("train", "--spam", folder, env=env).succeeds()
    assert figures(spamnb, env) == {"corrected": 4, "ham_lost": 1, "spam_missed": 2}
    with History.open(str(tmp_path / "spamnb" / "history")) as history:
        before = {entry.subject: history.label_before(entry.id) for entry in history.entries(verdict="ham")}
    assert before == {"meeting notes 97": None, "meeting notes 98": "ham", "meeting notes 99": None}
    spamnb("forget", folder, env=env).succeeds()
    spamnb.afresh("forget", "-", stdin=spam(99), env=env).succeeds()
    assert figures(spamnb, env) == {"corrected": 0, "ham_lost": 0, "spam_missed": 0}


def test_what_a_fallback_judged_is_corrected_by_ones_own_model(spamnb, own, tmp_path):
    env = state_of(spamnb, tmp_path) | {"SPAMNB_MODEL": str(tmp_path / "mine")}
    spamnb("classify", "--history", "--fallback", own, stdin=spam(99), env=env).succeeds()
    spamnb("train", "--ham", "-", stdin=spam(99), env=env).succeeds()
    assert figures(spamnb, env) == {"corrected": 1, "ham_lost": 1, "spam_missed": 0}


def test_mail_is_forgotten_by_rule(spamnb, own, tmp_path):
    """Each learned message that is still kept is taken once; the count is announced before."""
    env = state_of(spamnb, tmp_path) | {"SPAMNB_MODEL": own}
    spamnb("forget", "--from", "casino.example", env=env).fails(66, "no history")
    large = spam(98) + b"x" * MAX_MESSAGE
    for raw in (spam(97), spam(97), large, ham(97), ham(98)):
        spamnb("classify", "--history", stdin=raw, env=env).succeeds()
    none = spamnb("forget", "--since", "1h", env=env).succeeds()
    assert none.out == b"0 messages to forget: no learned message in the history matches\n"
    for raw in (spam(97), large, ham(97)):
        spamnb("train", "--ham", "-", stdin=raw, env=env).succeeds()
    before = Path(own + ".journal").read_bytes()
    rule = ("forget", "--from", "*@Casino.example", "--since", "1h")
    said = "1 message to forget (1 ham); the history no longer has the text of 1 more learned messages"
    spamnb(*rule, env=env).fails(64, f"{said}: nothing was changed; to do it, add --yes")
    assert Path(own + ".journal").read_bytes() == before
    assert spamnb(*rule, "--yes", env=env).succeeds().lines[:2] == [said, "messages: 1 forgotten"]
    stored = StoredModel.open(own)
    assert [stored.label_of(hash_of_raw(raw)) for raw in (spam(97), large, ham(97))] == [None, "ham", "ham"]
    assert figures(spamnb, env)["ham_lost"] == 1
    assert (
        spamnb("forget", "--since", "2026-01-01", "--yes", env=env).succeeds().lines[0].startswith("1 mess")
    )
    for wrong in ((), ("--from", "a b"), ("--since", "then"), ("--from", "example.org", "message")):
        spamnb("forget", *wrong, env=env).fails(64)


def test_what_a_server_is_taught_counts_as_corrected(spamnb, own, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    server = Serving(spamnb, tmp_path, model=own, history=True, allow_tell=True, env=state)
    try:
        server.ask(request("CHECK", spam(99)))
        for fields in ({"Message-class": "ham", "Set": "local"}, {"Remove": "local"}):
            assert b"EX_OK" in server.ask(request("TELL", spam(99), **fields))
            lost = int("Set" in fields)
            env = spamnb.environment | state
            assert figures(spamnb, env) == {"corrected": lost, "ham_lost": lost, "spam_missed": 0}
    finally:
        server.end()


def test_the_command(spamnb, mail, tmp_path):
    env = state_of(spamnb, tmp_path)
    assert spamnb("history", env=env).succeeds().out == b""
    for kind, flags in (("ham", []), ("spam", ["-p"]), ("unsure", ["--jobs", "1", "-"])):
        spamnb("classify", "--history", *flags, stdin=mail.messages[kind], env=env).succeeds()
    rows = [line.split("\t") for line in spamnb("history", env=env).succeeds().lines]
    assert [row[1] for row in rows] == ["unsure", "spam", "ham"]
    assert {len(row) for row in rows} == {5}
    described = spamnb("history", "--json", "--top", "2", env=env).succeeds().json_lines
    assert [entry["verdict"] for entry in described] == ["unsure", "spam"]
    assert described[1]["subject"] == rows[1][4] != ""
    word = rows[1][4].split()[0]
    assert len(spamnb("history", word, "--verdict", "spam", "--since", "1h", env=env).lines) == 1
    assert spamnb("history", "--since", "2099-01-01", env=env).succeeds().out == b""


def test_opening_it_again_drops_no_lock_that_the_process_has(folder):
    """Closing any descriptor of a file would, so none may be opened but by SQLite."""
    other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with History.open(folder) as history, transaction(history.database):
        with History.open(folder):
            pass
        command = [sys.executable, "-c", other, os.path.join(folder, NAME)]
        assert b"database is locked" in subprocess.run(command, capture_output=True, timeout=PATIENCE).stderr
