"""How a server starts, goes on when the world changes, and ends."""

import fcntl
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from helpers.programs import needs
from helpers.serving import LOOPBACK, Client, Serving, children, everything, refuses, request
from helpers.waiting import PATIENCE, stand_still, until

from spamnb.errors import Locked, SpamnbError
from spamnb.model import Model
from spamnb.serve import learning
from spamnb.serve.held_bytes import HeldBytes
from spamnb.serve.learning import MOST_WAITING_FOR_A_MODEL
from spamnb.serve.log import Log
from spamnb.store.stored_model import StoredModel

OK = b"SPAMD/1.1 0 EX_OK\r\n"


def learners(server):
    """The processes of workers, each of which learns a message."""
    return [child for worker in server.workers for child in children(worker)]


def is_told_to_stop(process):
    """Whether a process that stands still has a SIGTERM to come."""
    with open(f"/proc/{process}/status") as file:
        pending = next(int(line.split()[1], 16) for line in file if line.startswith("ShdPnd:"))
    return pending >> signal.SIGTERM - 1 & 1


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def line_of(process):
    """The command line that `ps` shows."""
    with open(f"/proc/{process}/cmdline") as file:
        return file.read().rstrip("\0").replace("\0", " ")


def name_of(process):
    with open(f"/proc/{process}/comm") as file:
        return file.read().strip()


def queue_up(server, mail):
    """Clients who have asked a server that stands still."""
    for worker in server.workers:
        stand_still(worker)
    clients = [server.connect() for _ in range(20)]
    for client in clients:
        client.sendall(request("CHECK", mail.messages["spam"]))
    return clients


def assert_all_answered(clients):
    for client in clients:
        with client:
            assert everything(client).startswith(OK)


def test_from_the_command_line(spamnb, tmp_path, mail):
    """The program as it is typed, up to Ctrl-C."""
    command = [spamnb.program, "serve", "--listen", LOOPBACK, "--workers", "3", "--metrics", LOOPBACK]
    server = Serving(spamnb, tmp_path, command)
    try:
        assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)
        assert len(server.workers) == 3
        assert line_of(server.process.pid).endswith(f" -m spamnb.serve {' '.join(command[2:])}")
        assert name_of(server.process.pid) == "spamnb-serve"
        names = [f"spamnb-worker {number}" for number in range(3)]
        until(lambda: sorted(map(name_of, server.workers)) == names)
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0
    finally:
        server.end()
    assert "Traceback" not in server.log


def test_the_server_loads_nothing_heavy(spamnb):
    """It stays, once for each worker; and to fork is no good where a library has threads."""
    heavy = "numpy click rich email multiprocessing".split()
    code = f"import sys, spamnb.serve.workers; print([name for name in {heavy} if name in sys.modules])"
    assert spamnb.run([sys.executable, "-P", "-c", code]).succeeds().lines == ["[]"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--listen", "192.0.2.1:783"], 64, "only local addresses are allowed (or --allow-network)"),
        (["--listen", "0.0.0.0:783"], 64, "only local addresses are allowed (or --allow-network)"),
        (["--metrics", "[::]:783"], 64, "only local addresses are allowed (or --allow-network)"),
        (["--listen", "192.0.2.1:783", "--allow-network"], 73, "cannot listen at 192.0.2.1:783"),
        (["--listen", "example.org:783"], 64, "only local addresses are allowed"),
        (["--listen", "783"], 64, "not an address"),
        (["--listen", "localhost:99999"], 64, "not an address"),
        (["--listen", "unix:/nosuch/folder/socket"], 73, "cannot listen at unix:/nosuch"),
        (["--user", "no-such-user"], 64, "there is no such user"),
        (["--workers", "0"], 64, "--workers"),
    ],
)
def test_what_cannot_be_served(spamnb, arguments, code, words):
    listen = [] if "--listen" in arguments else ["--listen", LOOPBACK]
    done = spamnb("serve", *listen, *arguments)
    assert done.code == code
    assert words in done.err.decode()
    assert done.err.decode().splitlines()[-1].startswith("spamnb: ")


def test_without_a_model_it_starts_and_judges_once_there_is_one(serving, spamnb, mail, tmp_path):
    """One that was damaged, and is restored, is no different."""
    model, asked = tmp_path / "model", request("CHECK", mail.messages["spam"], User="ann")
    for content in (None, b"rubbish"):
        if content:
            model.write_bytes(content)
        server = serving(model=str(model), workers=2)
        assert "(mail is not judged until then)" in server.log.partition("serving at")[0]
        assert server.ask(asked).startswith(b"SPAMD/1.0 75 ")
        assert server.wait_for("failed: ").endswith(" user=ann id=-")
        shutil.copy(spamnb.model, tmp_path / "new")
        os.replace(tmp_path / "new", model)
        assert all(server.ask(asked).startswith(OK) for _ in range(8))
        model.unlink()


def test_other_machines_are_answered_if_that_is_allowed(serving, mail):
    server = serving(listen=("0.0.0.0:0",), allow_network=True)
    port = server.address.rpartition(":")[2]
    answer = server.ask(request("CHECK", mail.messages["spam"]), address=f"127.0.0.1:{port}")
    assert answer.startswith(OK)


def test_a_socket_in_use(serving, spamnb, tmp_path, mail):
    path = tmp_path / "socket"
    server = serving(listen=(f"unix:{path}",))
    spamnb.afresh("serve", "--listen", path).fails(73, "another server is listening")
    server.end()
    assert path.exists()  # left over by the one that was killed
    server = serving(listen=(str(path),))
    assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)
    assert server.stop() == 0
    assert not path.exists()
    path.write_text("not ours")
    spamnb.afresh("serve", "--listen", path).fails(73, "there is a file of that name")
    assert path.read_text() == "not ours"


def test_several_addresses(serving, tmp_path, mail):
    server = serving(listen=("localhost:0", f"unix:{tmp_path}/socket"))
    for address in server.address.split(" and "):
        if not address.startswith("["):
            assert server.ask(request("CHECK", mail.messages["spam"]), address=address).startswith(OK)


def test_a_new_model_is_noticed_and_no_request_is_dropped(serving, spamnb, mail, own, tmp_path):
    """Replaced, learned into, replaced by rubbish, removed, restored: all the while it is asked."""
    server = serving(model=own, workers=2)
    spam, stop, answers = mail.messages["spam"], threading.Event(), []
    before = server.ask(request("CHECK", spam))

    def go_on_asking():
        while not stop.is_set():
            answers.append(server.ask(request("CHECK", spam)))

    askers = [threading.Thread(target=go_on_asking) for _ in range(4)]
    for asker in askers:
        asker.start()
    try:
        for number in range(5):
            other = spam.replace(b"99", b"%d" % number)
            spamnb("train", "--ham", "-", "--model", own, stdin=other).succeeds()
        learned = f" ; {Model.open(own).classify(spam).points:.1f} / 5.0".encode()
        assert learned not in before
        assert all(learned in server.ask(request("CHECK", spam)) for _ in range(8))
        new = shutil.copy(spamnb.model, tmp_path / "new")
        os.unlink(own + ".journal")
        os.replace(new, own)
        assert all(server.ask(request("CHECK", spam)) == before for _ in range(8))
        os.replace(shutil.copy(__file__, tmp_path / "rubbish"), own)
        assert all(server.ask(request("CHECK", spam)) == before for _ in range(8))
        os.unlink(own)
        assert all(server.ask(request("CHECK", spam)) == before for _ in range(8))
        until(lambda: len(answers) > 50)
    finally:
        stop.set()
        for asker in askers:
            asker.join()
    assert all(answer.startswith(OK) for answer in answers)
    assert "not a spamnb model" in server.log
    assert server.log.count("not a spamnb model") <= 2  # once for each worker


def shared_tables(server):
    """By process: the counts of shared models that it has in memory, as the kernel numbers them."""
    found = []
    for process in (server.process.pid, *server.workers):
        with open(f"/proc/{process}/maps") as file:
            found.append({line.split()[4] for line in file if "/memfd:spamnb" in line})
    return found


@pytest.mark.parametrize("damaged", [False, True])
def test_the_counts_of_a_new_model_are_in_memory_once_for_all_workers(serving, spamnb, mail, own, damaged):
    """One that turns out to be damaged when its counts are read takes nobody's place."""
    server = serving(model=own, workers=3)
    before, asked = shared_tables(server), request("CHECK", mail.messages["spam"])
    assert before == 4 * before[:1]
    assert len(before[0]) == 1
    answer = server.ask(asked)
    spamnb("train", "--jobs", "1", "--model", own, "--ham", mail.spam, "--yes").succeeds()
    if damaged:
        tokens, data = StoredModel.open(own).column("tokens"), bytearray(Path(own).read_bytes())
        data[tokens.at + tokens.size // 2] ^= 1
        Path(f"{own}.new").write_bytes(data)
        os.replace(f"{own}.new", own)
        assert [server.ask(asked) for _ in range(20)] == 20 * [answer]
        server.wait_for("its column tokens is damaged")
        assert shared_tables(server) == before
        return

    def is_shared():
        assert server.ask(asked) != answer
        after = shared_tables(server)
        return after == 4 * after[:1] and len(after[0]) == 1 and after != before

    until(is_shared)


def test_reload(serving, own, mail):
    server = serving(model=own, workers=2)
    before = server.ask(request("CHECK", mail.messages["spam"]))
    workers = server.workers
    server.process.send_signal(signal.SIGHUP)
    assert [server.ask(request("CHECK", mail.messages["spam"])) for _ in range(8)] == 8 * [before]
    assert server.workers == workers


def test_requests_under_way_are_answered_when_it_stops(serving, mail):
    server = serving(workers=1)
    asked = request("CHECK", mail.messages["spam"])
    with server.connect() as begun, server.connect() as damping:
        begun.sendall(asked[:50])
        server.process.send_signal(signal.SIGTERM)
        until(lambda: refuses(server))
        begun.sendall(asked[50:])
        assert everything(begun).startswith(OK)
        assert everything(damping).startswith(b"SPAMD/1.0 79 ")
    assert server.process.wait(PATIENCE) == 0


def test_who_waits_at_the_door_is_let_in_before_it_closes(serving, mail):
    """A worker that stands still, so that connections queue up; then it is told to stop."""
    server = serving(workers=1)
    (worker,) = server.workers
    clients = queue_up(server, mail)
    server.process.send_signal(signal.SIGTERM)
    until(lambda: is_told_to_stop(worker))
    os.kill(worker, signal.SIGCONT)
    assert_all_answered(clients)
    assert server.process.wait(PATIENCE) == 0


def test_a_lesson_under_way_is_finished_when_it_stops(serving, own, spamnb):
    server = serving(model=own, allow_tell=True)
    raw = b"Subject: late\n\nlesson\n"
    with open(own + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with server.connect() as client:
            client.sendall(request("TELL", raw, Set="local", Message_class="spam"))
            until(lambda: learners(server))
            os.killpg(server.process.pid, signal.SIGTERM)  # as systemd does: to every process
            until(lambda: refuses(server))
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert everything(client) == OK + b"DidSet: local\r\n\r\n\r\n"
    assert server.process.wait(PATIENCE) == 0
    assert spamnb("train", "--spam", "-", "--model", own, stdin=raw).lines == ["spam: 1 already known"]


def test_nobody_waits_for_a_lesson(serving, own, mail):
    """While another holds the lock, some learn: the one worker goes on judging."""
    server = serving(model=own, workers=1, allow_tell=True)
    with open(own + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pupils = [server.connect() for _ in range(12)]
        for number, pupil in enumerate(pupils):
            raw = b"Subject: lesson %d\n\nlesson\n" % number
            pupil.sendall(request("TELL", raw, Set="local", Message_class="ham"))
        until(lambda: learners(server))
        for _ in range(10):
            assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)
        assert select.select(pupils, [], [], 0)[0] == []  # who waited for the lock would answer them first
        fcntl.flock(lock, fcntl.LOCK_UN)
        for pupil in pupils:
            with pupil:
                assert everything(pupil) == OK + b"DidSet: local\r\n\r\n\r\n"
    assert learners(server) == []


def test_a_locked_model_holds_up_nobody_elses_lessons(serving, own, tmp_path):
    """The one worker has more lessons for it than processes to learn in."""
    for user in ("ann", "bob"):
        (tmp_path / "homes" / user).mkdir(parents=True)
        shutil.copy(own, tmp_path / "homes" / user / "model.msgpack")
    server = serving(model=own, user_models=str(tmp_path / "homes"), workers=1, allow_tell=True)

    def lesson(user, number):
        raw = b"Subject: lesson %d\n\nlesson\n" % number
        return request("TELL", raw, User=user, Set="local", Message_class="ham")

    with open(tmp_path / "homes" / "ann" / "model.msgpack.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pupils = [server.connect() for _ in range(1 + MOST_WAITING_FOR_A_MODEL)]
        for number, pupil in enumerate(pupils):
            pupil.sendall(lesson("ann", number))
        assert server.ask(lesson("bob", 0)) == OK + b"DidSet: local\r\n\r\n\r\n"
        assert select.select(pupils, [], [], 0)[0] == []
        fcntl.flock(lock, fcntl.LOCK_UN)
        for pupil in pupils:
            with pupil:
                assert everything(pupil) == OK + b"DidSet: local\r\n\r\n\r\n"


def test_lessons_for_a_model_that_stays_locked_fail_together(monkeypatch):
    def locked(*_, **__):
        raise Locked("another spamnb is writing it")

    monkeypatch.setattr(learning, "learn", locked)
    queue = learning.LearningQueue(lambda: None, Log(), HeldBytes(1))
    tasks = [queue.add("model", b"", "ham") for _ in range(3)]
    assert queue.running == {"model"}
    for task in tasks:
        with pytest.raises(SpamnbError, match="is writing it"):
            queue.finish(task)
    assert (queue.running, queue.waiting) == (set(), [])
    assert [bool(task.process) for task in tasks] == [True, False, False]


def test_lessons_that_fail(serving, own, tmp_path):
    server = serving(model=own, allow_tell=True)
    os.mkdir(own + ".journal")
    answer = server.ask(request("TELL", b"Subject: x\n\ny\n", Set="local", Message_class="spam"))
    assert answer == b"SPAMD/1.0 75 Temporary failure: see the log of the server\r\n"
    server.wait_for("model.msgpack.journal: ")
    assert str(tmp_path) not in answer.decode()


def test_a_worker_that_dies_is_replaced_and_who_queues_up_is_served_by_the_others(serving, mail):
    """Both workers stand still while many connect; one of them never goes on."""
    server = serving(workers=2)
    dead, other = server.workers
    clients = queue_up(server, mail)
    os.kill(dead, signal.SIGKILL)
    os.kill(other, signal.SIGCONT)
    assert_all_answered(clients)
    server.wait_for("died of signal 9 (Killed), and is replaced")
    until(lambda: len(server.workers) == 2)
    assert other in server.workers
    assert dead not in server.workers
    for _ in range(8):
        assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)


def test_workers_do_not_outlive_the_server(serving):
    server = serving(workers=2)
    workers = server.workers
    server.process.kill()
    server.process.wait()
    until(lambda: not any(map(alive, workers)))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_root_becomes_an_ordinary_user(spamnb, serving, mail):
    """Who may read the model, and nothing else that is root's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        model = shutil.copy(spamnb.model, folder)
        os.chmod(model, 0o644)
        server = serving(model=model, user="nobody")
    for process in (server.process.pid, *server.workers):
        with open(f"/proc/{process}/status") as file:
            ids = [line.split()[1:] for line in file if line.startswith(("Uid:", "Gid:", "Groups:"))]
        assert len(ids) == 3
        assert not any("0" in each for each in ids)
    assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)


@needs("systemd-socket-activate")
def test_sockets_from_systemd(spamnb, tmp_path, mail):
    """Handed over by name; ready is told, and stopping too; and systemd's sockets stay."""
    doors = [tmp_path / name for name in ("spamd", "metrics", "http")]
    names = [f"-E{name}" for name in (f"SPAMNB_MODEL={spamnb.model}", f"NOTIFY_SOCKET={tmp_path}/notify")]
    command = [
        "systemd-socket-activate",
        *(f"-l{door}" for door in doors),
        "--fdname=spamd:metrics:http",
        *names,
    ]
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener,
        open(tmp_path / "log", "w") as log,
        subprocess.Popen([*command, spamnb.program, "serve"], stderr=log, start_new_session=True) as process,
    ):
        try:
            listener.bind(str(tmp_path / "notify"))
            listener.settimeout(PATIENCE)
            client = Client(f"unix:{doors[0]}")
            until(lambda: not refuses(client))  # the path is there before it listens
            assert client.ask(request("CHECK", mail.messages["spam"])).startswith(OK)
            assert listener.recv(100) == b"READY=1"
            metrics = client.ask(b"GET /metrics HTTP/1.0\r\n\r\n", address=f"unix:{doors[1]}")
            pong = client.ask(b"GET /ping HTTP/1.0\r\n\r\n", address=f"unix:{doors[2]}")
            assert pong.endswith(b"\r\n\r\npong\r\n")
            assert b"spamnb_messages_total" in metrics
            process.terminate()
            assert process.wait(PATIENCE) == 0
            assert listener.recv(100) == b"STOPPING=1"
            assert all(door.exists() for door in doors)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
