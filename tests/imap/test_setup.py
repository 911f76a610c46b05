"""The first fifteen minutes: setup proposes folders that work, learns, and asks before it moves."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from helpers.homes import hand_over
from helpers.imap_accounts import ImapHome, folders, places
from helpers.imap_mailbox import GERMAN, GMAIL, HOST, digest
from helpers.logged_in import AS_THE_USER, LOGGED_IN
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.samples import ENOUGH, ham, spam
from helpers.screens import on_a_terminal
from helpers.waiting import PATIENCE, until

TRUST = "certificate to trust"
LONG_AGO, NOW = 1_600_000_000, time.strftime("%a, %d %b %Y %T +0000", time.gmtime()).encode()
ADDRESS, PLACE, WAY, PASSWORD = "mail address", "IMAP server", "password come from?", "password (it is not"
HISTORY, LEARN, MOVE, GO_ON = (
    "Keep judged mail",
    "Learn this mail now?",
    "from now on",
    "Judge mail in the background",
)


@pytest.fixture
def ask(home):
    """`spamnb imap setup` on a terminal, with a home where nothing is yet: what is seen."""
    home.spamnb.environment.pop("SPAMNB_MODEL", None)

    def run(server, *answers, given=(), option="setup"):
        environment = {**home.environment, "SPAMNB_MODEL": str(home.path / "new.msgpack")}
        environment["PYTHON_KEYRING_BACKEND"] = "keyrings.alt.file.PlaintextKeyring"
        environment["PATH"] = str(home.path)  # no systemctl: that of a user may run or not
        where = (f"port={server.port}", "tls=none", *given) if option == "setup" else given
        seen, code = on_a_terminal(home.spamnb, "imap", "setup", *where, answers=answers, **environment)
        assert code == 0, seen
        return seen.replace("\r", "")

    return run


def answers(server, *more):
    return [(ADDRESS, server.user), (PLACE, HOST), (WAY, "1"), (PASSWORD, server.password), *more]


def fill(server, folder, messages, flags=""):
    for n, raw in enumerate(messages):
        server.append(folder, raw, flags, LONG_AGO + n)


def test_from_nothing_to_the_first_moved_spam(dovecot_with, home, ask):
    """On Gmail's folders: All Mail is learned, without what is in Spam, Trash, or new in the inbox."""
    server = dovecot_with(folders=GMAIL)
    today = b"Subject: today\nDate: " + NOW + b"\n\nnobody knows yet\n"
    archived, new = [ham(n) for n in range(120)], [ham(200), spam(200), spam(201)]
    fill(server, "[Gmail]/All Mail", [*archived, *new, spam(0), spam(100)])
    fill(server, "[Gmail]/Spam", [spam(n) for n in range(ENOUGH)])
    fill(server, "[Gmail]/Sent Mail", [b"Subject: re\n\nyes\n"])
    fill(server, "[Gmail]/Trash", [spam(100)])
    fill(server, "INBOX", archived[:3], r"\Seen")
    for raw in new:
        server.append("INBOX", raw)
    server.append("[Gmail]/All Mail", today, r"\Seen")
    seen = ask(server, *answers(server, (HISTORY, "y"), (LEARN, "y"), (MOVE, "y"), (GO_ON, "y")))
    assert "not spam  [Gmail]/All Mail: 125 of 126 messages" in seen
    assert "careful" not in seen
    assert f"spam: {ENOUGH} learned\nnot spam: 120 learned" in seen
    assert "not spam: 100.0 % kept, 0.0 % unsure, 0.0 % taken for spam" in seen
    assert "Verdicts on 3 messages of your inbox: 2 spam, 1 not spam, 0 unsure" in seen
    assert "home: 3 judged: 2 to [Gmail]/Spam, 1 stay" in seen
    assert "let your system start: " in seen
    assert "ham" not in seen.replace("home/", "")
    assert {digest(spam(200)), digest(spam(201))} <= {one.digest for one in folders(server)["[Gmail]/Spam"]}
    kept = home.state_path().with_name("home.password")
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == (server.password + "\n", 0o600)
    written = home.config.read_text()
    assert server.password not in written
    assert ('action = "move"' in written, "history = true" in written) == (True, True)
    assert "spam is moved already" in ask(server, (GO_ON, "n"), option="again")
    second = [f"host={HOST}", f"user={server.user.upper()}", "password_file=x", "--account", "second"]
    home("setup", *second).fails(64, "already has the account home; use that account")


def test_the_inbox_of_who_archives_nothing(dovecot, home, ask):
    """What was read or answered and left there for days is learned, once; what is new is judged."""
    read, answered = [ham(n) for n in range(110)], [ham(n) for n in range(110, 120)]
    fill(dovecot, "INBOX", read, r"\Seen")
    fill(dovecot, "INBOX", answered, r"\Answered")
    fill(dovecot, "INBOX", [spam(100)], r"\Seen $Junk")
    fill(dovecot, "INBOX", [spam(101)])
    dovecot.append("INBOX", b"Subject: lunch today\nDate: " + NOW + b"\n\nand tomorrow\n", r"\Seen")
    fill(dovecot, "Sent", [b"Subject: re %d\n\nyes\n" % n for n in range(30)])
    fill(dovecot, "Junk", [spam(n) for n in range(ENOUGH)])
    seen = ask(dovecot, *answers(dovecot, (HISTORY, "n"), (LEARN, "n")))
    assert "to go on: spamnb imap setup\n" in seen
    seen += ask(dovecot, (LEARN, "y"), (MOVE, "n"), option="again")
    assert "not spam  INBOX: 120 of 123 messages (read or answered, and there for 3 days)" in seen
    assert "Sent" not in seen
    assert "not spam: 120 learned" in seen
    assert "Verdicts on 2 messages of your inbox: 1 spam" in seen  # $Junk was said by the owner
    assert "Nothing was moved. `spamnb imap setup` asks again." in seen
    assert {places(dovecot)[digest(raw)] for raw in (spam(100), spam(101))} == {"INBOX"}
    home.config.write_text(home.config.read_text() + 'model = "~/new.msgpack"\n')
    fill(dovecot, "INBOX", [ham(150)], r"\Seen")
    facts = home("train", "--json").succeeds().json["learned"]
    assert facts == {"ham": 1, "spam": 0}
    assert "1 to Junk" in ask(dovecot, (MOVE, "y"), (GO_ON, "n"), option="again")
    assert places(dovecot)[digest(spam(101))] == "Junk"
    assert 'action = "move"\n' in home.config.read_text()


def test_what_setup_warns_of(dovecot_with, ask):
    server = dovecot_with(folders=GERMAN, without=("MOVE", "SPECIAL-USE"))
    fill(server, "Gesendet", [b"Subject: re %d\n\nyes\n" % n for n in range(3)])
    typed = ("for the keyring", server.password)
    unknown = [(PLACE, ""), (TRUST, "nowhere.pem"), typed, (PLACE, ""), (TRUST, str(server.ca)), typed]
    first = [(ADDRESS, server.user), (PLACE, "localhost"), (WAY, "2"), typed, *unknown]
    secure = [f"port={server.tls_port}", "tls=implicit"]
    seen = ask(server, *first, (HISTORY, "n"), (LEARN, "n"), given=secure)
    assert "is not trusted (self-signed" in seen or "is not trusted (unable" in seen
    assert "ca_file nowhere.pem: No such file" in seen
    assert "none" not in seen.replace("(empty: none)", "")
    assert "not spam  Gesendet: 3 messages (written by yourself)" in seen
    assert "warning: The only mail to keep is what you wrote" in seen
    assert "warning: No spam to learn from" in seen


def test_setup_asks_again_for_what_does_not_work(dovecot, home, ask):
    fill(dovecot, "Archive", [ham(n) for n in range(ENOUGH)])
    again = [(PASSWORD, ""), (ADDRESS, ""), (PLACE, ""), (PASSWORD, dovecot.password)]
    first = [(ADDRESS, dovecot.user), (PLACE, "localhost"), (WAY, "3"), ("command", "exit 3")]
    wrong = [(WAY, "1"), (PASSWORD, "guess")]
    right = [(PLACE, f"{HOST}:2"), (PLACE, HOST), ("TLS", ""), ("port", str(dovecot.port))]
    seen = ask(dovecot, *first, *wrong, *right, *again, (HISTORY, "n"), (LEARN, "n"), given=["port=1"])
    for said in (
        "failed with exit code 3",
        "localhost:1: refuses connections",
        f"{HOST}:2: refuses connections",
        "login refused",
        "warning: Only 14 messages that you received and keep",
    ):
        assert said in seen
    home("setup", "host=x").fails(64, "already has an account home", "on a terminal")


@needs("systemd-analyze")
def test_the_service(dovecot, home):
    """A unit that systemd understands, with the program and the places of this user."""
    home.add(dovecot, model=str(home.path / "models %h" / "mine"))
    done = home("service", "install").succeeds()
    path = home.path / ".config" / "systemd" / "user" / "spamnb-imap.service"
    assert f"written: {path}" in done.out.decode() or f"written and started: {path}" in done.out.decode()
    unit = path.read_text()
    assert f'ExecStart="{home.spamnb.program}" imap watch' in unit
    assert f'Environment="SPAMNB_MODEL={home.model}"' in unit
    assert f'"-{home.path}/models %%h"' in unit
    assert "%h/.local/share/spamnb" not in unit
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", path],
        capture_output=True,
        env=home.environment | {"SYSTEMD_LOG_LEVEL": "warning", "XDG_RUNTIME_DIR": str(home.path)},
    )
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, b"", b"")
    assert home("service", "remove").succeeds().lines == [f"removed: {path}", "the service was not running"]
    assert home("service", "remove").succeeds().lines == [f"there is no service: {path} does not exist"]


def put_and_wait(server, raw):
    """Put spam into the inbox, and wait until it is moved."""
    server.append("INBOX", raw)
    until(lambda: places(server).get(digest(raw)) == "Junk")


@needs("dovecot", "systemd --user", "spamnb as another user")
def test_the_service_runs(dovecot, spamnb):
    """Under all limits of its unit, by a real systemd of an ordinary user, from `install` to the end."""
    with tempfile.TemporaryDirectory(prefix="spamnb-", dir="/srv") as folder:  # its /tmp is another one
        Path(folder).chmod(0o755)
        home = ImapHome(spamnb, Path(folder, "home"))
        home.add(dovecot, history=True)
        more = home.path / ".config" / "systemd" / "user" / "spamnb-imap.service.d"
        more.mkdir(parents=True)  # the program may be below /tmp
        (more / "tests.conf").write_text(f"[Service]\nBindReadOnlyPaths={ROOT}\n")
        hand_over(home.path)
        steps = f"{spamnb.program} imap service install; read go; systemctl --user reload spamnb-imap; "
        steps += "read go; systemctl --user is-enabled spamnb-imap; "
        steps += f"env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS {spamnb.program} imap service remove; "
        steps += "while systemctl --user is-active -q spamnb-imap; do sleep 0.1; done; "
        steps += "systemctl --user show spamnb-imap"
        session = subprocess.Popen(
            [*LOGGED_IN, *AS_THE_USER, "sh", "-ec", steps],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=home.environment,
            text=True,
            bufsize=1,
        )
        with session:
            assert session.stdin
            assert session.stdout
            said = session.stdout.readline()
            assert said.startswith("written and started: "), said + session.stdout.readline()
            for raw in (spam(98), spam(99)):
                put_and_wait(dovecot, raw)
                session.stdin.write("go\n")
            shown = session.communicate(timeout=PATIENCE)[0].splitlines()
        assert {"enabled", "the service was told to end", "Result=success", "ExecMainStatus=0"} <= set(shown)
        assert not [*home.path.glob(".config/systemd/user/**/spamnb-imap.service")]
        with home.history(spam(98)) as (_, found):
            assert len(found) == 1


def test_the_agent_of_a_mac(monkeypatch, tmp_path):
    import plistlib

    from spamnb.imap.service import agent

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SPAMNB_MODEL", "/mail/model")
    found = plistlib.loads(agent(), fmt=plistlib.FMT_XML)
    program, *arguments = found["ProgramArguments"]
    assert (Path(program).is_absolute(), arguments) == (True, ["imap", "watch"])
    variables = {"SPAMNB_MODEL": "/mail/model", "PATH": os.environ["PATH"]}
    assert found["EnvironmentVariables"] == variables
    kinds = {"Label": str, "RunAtLoad": bool, "KeepAlive": dict, "ThrottleInterval": int}  # launchd.plist(5)
    kinds |= {"StandardOutPath": str, "StandardErrorPath": str}
    kinds |= {"ProgramArguments": list, "EnvironmentVariables": dict}
    assert {name: type(value) for name, value in found.items()} == kinds
