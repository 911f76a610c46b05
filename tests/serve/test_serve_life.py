"""How a server starts, goes on when the world changes, and ends."""

import fcntl
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from helpers.programs import needs
from helpers.serving import LOOPBACK, Client, Serving, children, everything, refuses, request
from helpers.waiting import PATIENCE, until

from spamnb.model import Model

OK = b"SPAMD/1.1 0 EX_OK\r\n"


def learners(server):
    """The processes that learn a message each."""
    return children(server.process.pid)


def test_from_the_command_line(spamnb, tmp_path, mail):
    """The program as it is typed, up to Ctrl-C; to fork is no good where a library has threads."""
    server = Serving(spamnb, tmp_path, [spamnb.program, "serve", "--listen", LOOPBACK, "--http", LOOPBACK])
    try:
        assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)
        process = Path("/proc", str(server.process.pid))
        assert (process / "comm").read_text() == "spamnb-serve\n"
        assert "numpy" not in (process / "maps").read_text()
        assert len(os.listdir(process / "task")) == 1
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0
    finally:
        server.end()
    assert "Traceback" not in server.log


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["--listen", "0.0.0.0:783"],
            64,
            "other machines can reach it; use localhost, or see --allow-network",
        ),
        (["--http", "[::]:783"], 64, "other machines can reach it; use localhost, or see --allow-network"),
        (["--listen", "192.0.2.1:783", "--allow-network"], 73, "cannot listen at 192.0.2.1:783"),
        (["--listen", "783"], 64, "not an address"),
        (["--listen", "unix:/nosuch/folder/socket"], 73, "cannot listen at unix:/nosuch"),
        (["--user", "no-such-user"], 64, "there is no such user"),
    ],
)
def test_what_cannot_be_served(spamnb, arguments, code, words):
    listen = [] if "--listen" in arguments else ["--listen", LOOPBACK]
    done = spamnb("serve", *listen, *arguments)
    assert done.code == code
    assert words in done.err.decode()
    assert done.err.decode().splitlines()[-1].startswith("spamnb: ")


def test_without_a_model_it_starts_and_judges_once_there_is_one(serving, spamnb, mail, tmp_path):
    """Or one that is not damaged, where others may connect, if that is allowed."""
    (model := tmp_path / "model").write_bytes(b"rubbish")
    server = serving(model=str(model), listen=("0.0.0.0:0",), allow_network=True)
    assert "(until this is fixed, mail is not judged)" in server.log.partition("serving at")[0]
    address = server.address.replace("0.0.0.0", "127.0.0.1")
    asked = request("CHECK", mail.messages["spam"], User="ann")
    assert server.ask(asked, address=address).startswith(b"SPAMD/1.0 75 ")
    assert server.wait_for("failed: ").endswith(" user=ann id=-")
    shutil.copy(spamnb.model, tmp_path / "new")
    os.replace(tmp_path / "new", model)
    assert server.ask(asked, address=address).startswith(OK)


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
    spamnb.afresh("serve", "--listen", path).fails(73, "a file has this name")
    assert path.read_text() == "not ours"


def test_a_new_model_is_noticed_and_no_request_is_dropped(serving, spamnb, mail, own, tmp_path):
    """Replaced, learned into, replaced by rubbish, removed, restored: all the while it is asked."""
    server = serving(model=own)
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
        assert learned in server.ask(request("CHECK", spam))
        new = shutil.copy(spamnb.model, tmp_path / "new")
        os.unlink(own + ".journal")
        os.replace(new, own)
        assert server.ask(request("CHECK", spam)) == before
        os.replace(shutil.copy(__file__, tmp_path / "rubbish"), own)
        assert server.ask(request("CHECK", spam)) == before
        os.unlink(own)
        assert server.ask(request("CHECK", spam)) == before
        until(lambda: len(answers) > 50)
    finally:
        stop.set()
        for asker in askers:
            asker.join()
    assert all(answer.startswith(OK) for answer in answers)
    assert "not a spamnb model" in server.log
    assert server.log.count("not a spamnb model") == 1


def test_requests_under_way_are_answered_when_it_stops(serving, mail):
    server = serving()
    asked = request("CHECK", mail.messages["spam"])
    with server.connect() as begun, server.connect() as damping:
        begun.sendall(asked[:50])
        server.process.send_signal(signal.SIGTERM)
        until(lambda: refuses(server))
        begun.sendall(asked[50:])
        assert everything(begun).startswith(OK)
        assert everything(damping).startswith(b"SPAMD/1.0 79 ")
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
    assert spamnb("train", "--spam", "-", "--model", own, stdin=raw).lines == ["spam: 1 already learned"]


def test_a_locked_model_holds_up_nobody_else(serving, own, mail, tmp_path):
    """There are more lessons for it than processes to learn in."""
    for user in ("ann", "bob"):
        (tmp_path / "homes" / user).mkdir(parents=True)
        shutil.copy(own, tmp_path / "homes" / user / "model.msgpack")
    server = serving(model=own, user_models=str(tmp_path / "homes"), allow_tell=True)

    def lesson(user, number):
        raw = b"Subject: lesson %d\n\nlesson\n" % number
        return request("TELL", raw, User=user, Set="local", Message_class="ham")

    with open(tmp_path / "homes" / "ann" / "model.msgpack.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pupils = [server.connect() for _ in range(10)]
        for number, pupil in enumerate(pupils):
            pupil.sendall(lesson("ann", number))
        assert server.ask(lesson("bob", 0)) == OK + b"DidSet: local\r\n\r\n\r\n"
        assert server.ask(request("CHECK", mail.messages["spam"], User="ann")).startswith(OK)
        assert select.select(pupils, [], [], 0)[0] == []
        fcntl.flock(lock, fcntl.LOCK_UN)
        for pupil in pupils:
            with pupil:
                assert everything(pupil) == OK + b"DidSet: local\r\n\r\n\r\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_root_becomes_an_ordinary_user(spamnb, serving, mail):
    """Who may read the model, and nothing else that is root's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        model = shutil.copy(spamnb.model, folder)
        os.chmod(model, 0o644)
        server = serving(model=model, user="nobody")
    with open(f"/proc/{server.process.pid}/status") as file:
        ids = [line.split()[1:] for line in file if line.startswith(("Uid:", "Gid:", "Groups:"))]
    assert len(ids) == 3
    assert not any("0" in each for each in ids)
    assert server.ask(request("CHECK", mail.messages["spam"])).startswith(OK)


@needs("systemd-socket-activate")
def test_sockets_from_systemd(spamnb, tmp_path, mail):
    """Sockets are handed over by name; systemd hears of the start and the stop, and keeps its sockets."""
    doors = [tmp_path / name for name in ("spamd", "http")]
    names = [f"-E{name}" for name in (f"SPAMNB_MODEL={spamnb.model}", f"NOTIFY_SOCKET={tmp_path}/notify")]
    command = ["systemd-socket-activate", *(f"-l{door}" for door in doors), "--fdname=spamd:http", *names]
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
            pong = client.ask(b"GET /ping HTTP/1.0\r\n\r\n", address=f"unix:{doors[1]}")
            assert pong.endswith(b"\r\n\r\npong\r\n")
            process.terminate()
            assert process.wait(PATIENCE) == 0
            assert listener.recv(100) == b"STOPPING=1"
            assert all(door.exists() for door in doors)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
