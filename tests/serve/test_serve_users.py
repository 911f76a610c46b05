"""Each user's mail by a model of their own, and no way from one user's folder to elsewhere."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from helpers.forged_senders import SUBMITTED
from helpers.homes import NOBODY, WITH_OPEN_PYTHON
from helpers.programs import needs
from helpers.serving import LOOPBACK, SPAM, post, request
from helpers.waiting import PATIENCE

from spamnb.errors import NoInput
from spamnb.rights import Rights
from spamnb.serve.open_models import SharedModel, UserModel
from spamnb.store.stored_model import StoredModel

HAM = b"Subject: lunch\n\nsee you at noon\n"
DAEMON = 1  # a user of every system


@pytest.fixture
def homes(tmp_path):
    (tmp_path / "homes").mkdir()
    return tmp_path / "homes"


@pytest.fixture
def upside_down(spamnb, mail, tmp_path):
    """A model that takes ham for spam."""
    path = str(tmp_path / "upside-down")
    spamnb("train", "--jobs", "1", "--model", path, "--ham", mail.spam, "--spam", mail.ham).succeeds()
    return path


def give(homes, user, model):
    (homes / user).mkdir()
    shutil.copy(model, homes / user / "model.msgpack")


def is_spam(server, user):
    said = server.ask(request("CHECK", SPAM, User=user))
    return b"Spam: True" in said if said.startswith(b"SPAMD/1.1 0") else said


def test_own_models_and_the_shared_one(serving, homes, upside_down):
    server = serving(user_models=str(homes))
    assert is_spam(server, "ann")
    give(homes, "ann", upside_down)
    give(homes, "bob@example.org", upside_down)
    assert not is_spam(server, "ann")
    assert not is_spam(server, "bob@example.org")
    assert is_spam(server, "carol")
    assert is_spam(server, None)
    shutil.rmtree(homes / "ann")
    assert is_spam(server, "ann")


def test_names_that_lead_elsewhere_are_nobody(serving, homes, upside_down):
    give(homes, "ann", upside_down)
    give(homes, ".ann", upside_down)
    for folder in (homes, homes.parent):
        shutil.copy(upside_down, folder / "model.msgpack")
    server = serving(user_models=str(homes))
    assert not is_spam(server, "ann\t")  # a space at the end is not part of a header
    names = ".. ../ann ../homes/ann ann/../ann /etc ann/ ./ann .ann -ann änn * %2e%2e".split()
    for user in (*names, "", "a" * 200, "ann ann", f"/{homes}"):
        assert is_spam(server, user) is True, user


def test_links_are_followed_within_the_users_folder_only(serving, homes, upside_down):
    give(homes, "ann", upside_down)
    (homes / "dave" / "other").mkdir(parents=True)
    shutil.copy(upside_down, homes / "dave" / "other" / "model.msgpack")
    os.symlink("other/model.msgpack", homes / "dave" / "model.msgpack")
    os.symlink(homes / "ann", homes / "eve")
    (homes / "mallory").mkdir()
    os.symlink(homes / "ann" / "model.msgpack", homes / "mallory" / "model.msgpack")
    (homes / "trent").mkdir()
    os.mkfifo(homes / "trent" / "model.msgpack")
    server = serving(user_models=str(homes))
    for user, why in (
        ("eve", "a link leads"),
        ("mallory", "a link leads"),
        ("trent", "is not a regular file"),
    ):
        assert is_spam(server, user)
        server.wait_for(f"user {user}: {homes}/{user}/model.msgpack: {why}")
    assert not is_spam(server, "ann")
    assert not is_spam(server, "dave")
    os.unlink(homes / "ann" / "model.msgpack")
    os.symlink(upside_down, homes / "ann" / "model.msgpack")
    assert is_spam(server, "ann")  # a model that becomes a link is let go


def test_people_are_those_of_the_user(serving, spamnb, homes):
    for user in ("ann", "mallory", "trent"):
        give(homes, user, spamnb.model)
    (homes / "ann" / "known.txt").write_text("win@casino.example\n")
    os.symlink(homes / "ann" / "known.txt", homes / "mallory" / "known.txt")
    os.mkfifo(homes / "trent" / "known.txt")
    server = serving(http=(LOOPBACK,), user_models=str(homes))
    from_win = SUBMITTED + b"From: win@casino.example\n" + SPAM
    assert b"Spam: True" in server.ask(request("CHECK", from_win))
    for user in ("ann", "mallory", "trent", "bob"):
        said = server.ask(request("CHECK", from_win, User=user))
        assert (b"Spam: False" in said) == (user == "ann"), user
    asked = post("/checkv2", from_win, User="ann")  # by a mail server that has not taken it yet
    assert b"SPAMNB_SPAM" in server.ask(asked, address=server.http.partition(" and ")[0])
    for user in ("mallory", "trent"):
        server.wait_for(f"user {user}, people: {homes}/{user}/known.txt: ")


def test_who_teaches_teaches_the_model_that_judges_them(serving, spamnb, own, homes):
    """And nobody teaches the shared one, where users have models."""
    give(homes, "ann", own)
    anns = str(homes / "ann" / "model.msgpack")
    server = serving(model=own, user_models=str(homes), allow_tell=True)
    raw = b"Subject: xyzzy\n\nplugh\n"
    server.ask(request("TELL", raw, User="ann", Set="local", Message_class="spam"))
    output = server.ask(request("TELL", raw, User="../ann", Set="local", Message_class="ham"))
    assert output.startswith(b"SPAMD/1.0 69 Service Unavailable: this user name is not allowed")
    assert not os.path.exists(f"{own}.journal")
    assert spamnb("train", "--spam", "-", "--model", anns, stdin=raw).lines == ["spam: 1 already learned"]


def test_a_first_lesson_makes_a_model(serving, own, homes):
    """Even without a shared one."""
    os.symlink(homes.parent, homes / "eve")
    server = serving(model=f"{own}-missing", user_models=str(homes), allow_tell=True)
    lesson = {"raw": SPAM, "Set": "local", "Message_class": "spam"}
    assert b"DidSet: local" in server.ask(request("TELL", User="bob", **lesson))
    assert StoredModel.open(str(homes / "bob" / "model.msgpack")).messages == [0, 1]
    assert f"user=bob model={homes}/bob/model.msgpack" in server.wait_for("learned spam")
    for user in ("eve", "../bob"):  # a link that leads elsewhere, and nobody
        assert server.ask(request("TELL", User=user, **lesson)).startswith(b"SPAMD/1.0 ")
    assert sorted(os.listdir(homes)) == ["bob", "eve"]


def test_a_user_has_one_name_in_every_protocol(serving, own, homes):
    """An address counts with its domain: the same name elsewhere is another user."""
    options = {"model": own, "user_models": str(homes), "allow_tell": True}
    server = serving(http=(LOOPBACK,), **options)
    lesson = {"raw": SPAM, "Set": "local", "Message_class": "spam"}
    assert b"DidSet: local" in server.ask(request("TELL", User="ann@a.example", **lesson))
    for address in ("Ann+news@A.example", "ann@b.example"):
        asked = post("/learnspam", HAM, Deliver_To=address)
        assert b"success" in server.ask(asked, address=server.http.partition(" and ")[0])
    assert sorted(os.listdir(homes)) == ["ann@a.example", "ann@b.example"]
    learned = [StoredModel.open(str(homes / user / "model.msgpack")).messages for user in os.listdir(homes)]
    assert sorted(learned) == [[0, 1], [0, 2]]


def test_a_journal_that_is_a_link_is_not_read(serving, spamnb, homes, own):
    """The server may read what the user may not."""
    give(homes, "ann", own)
    spamnb("train", "--spam", "-", "--model", own, stdin=SPAM).succeeds()
    server = serving(user_models=str(homes))
    assert is_spam(server, "ann")
    os.symlink(f"{own}.journal", homes / "ann" / "model.msgpack.journal")
    assert is_spam(server, "ann")  # by the model as it was before
    server.wait_for("model.msgpack.journal: ")
    server = serving(user_models=str(homes))
    assert is_spam(server, "ann")  # by the shared model
    server.wait_for("user ann: ")


ANN, BOB = 12001, 12002
# Learns a message as a server of root's does, that found the model before a folder became a link.
LEARN = """
import sys
from spamnb.rights import Rights
from spamnb.serve.learning import Lesson
from spamnb.serve.log import Log
owner = Rights(*map(int, sys.argv[2:]))
print(Lesson(sys.argv[1], b"Subject: x\\n\\ny\\n", "spam", owner=owner).run(Log()))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@needs("mounts", "spamnb as another user")
def test_root_opens_no_model_that_the_user_may_not(spamnb, own):
    """Even where the user's folder becomes a link in the moment after it was looked at."""
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:
        os.chmod(folder, 0o755)
        homes = Path(folder)
        give(homes, "bob", own)
        for path in (homes / "bob", homes / "bob" / "model.msgpack"):
            os.chown(path, BOB, BOB)
            path.chmod(path.stat().st_mode & 0o700)
        os.symlink("bob", homes / "ann")
        model = f"{homes}/ann/model.msgpack"
        with pytest.raises(NoInput, match="Permission denied"):
            UserModel(model, SharedModel(own), Rights(ANN, ANN)).current()
        assert os.geteuid() == 0
        UserModel(model, SharedModel(own), Rights(BOB, BOB)).current()
        command = [*WITH_OPEN_PYTHON, sys.executable, "-c", LEARN, model]
        assert b"Permission denied" in spamnb.run([*command, str(ANN), str(ANN)]).out
        assert spamnb.run([*command, str(BOB), str(BOB)]).out == b"b'learned'\n"


# As somebody else, say at a socket what standard input has; answers with the first line of the answer.
ASK_AS = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(sys.stdin.buffer.read())
print(client.makefile().readline().strip())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can connect as another user")
def test_who_may_teach_at_a_unix_socket(serving, own):
    """Whatever the client says who it is; at a port nobody can know. In a user namespace all are nobody."""
    nobody, daemon, stranger = pwd.getpwuid(NOBODY).pw_name, pwd.getpwuid(DAEMON).pw_name, 12345
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:
        os.chmod(folder, 0o755)
        homes = Path(folder) / "homes"
        homes.mkdir()
        for name in (nobody, daemon, "ann", "bob"):
            give(homes, name, own)
        os.chown(homes / "bob" / "model.msgpack", DAEMON, DAEMON)

        def tell(name, user_id, user):
            teach = request("TELL", SPAM, User=user, Set="local", Message_class="spam")
            ask = [sys.executable, "-c", ASK_AS, f"{folder}/{name}", str(user_id)]
            done = subprocess.run(ask, input=teach, capture_output=True, timeout=PATIENCE, check=True)
            return done.stdout.startswith(b"SPAMD/1.1 0 ")

        options = {"model": own, "user_models": str(homes), "allow_tell": True}
        serving(listen=(f"unix:{folder}/strict",), **options)
        serving(listen=(f"unix:{folder}/open",), allow_tell_all=True, **options)
        for user in ("ann", "carol", None):  # the last two have no model
            assert not tell("strict", DAEMON, user)
            assert not tell("strict", stranger, user)
        assert not os.path.exists(f"{own}.journal")
        assert not (homes / "ann" / "model.msgpack.journal").exists()
        assert tell("strict", DAEMON, daemon)
        assert tell("strict", DAEMON, "bob")
        assert not tell("strict", NOBODY, nobody)
        assert not tell("strict", stranger, daemon)
        assert tell("strict", 0, "ann")
        assert tell("open", stranger, "ann")
        assert tell("open", stranger, "carol")
