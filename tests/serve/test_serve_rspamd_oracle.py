"""Debian's own rspamd is asked the same, and answers in the same shape; rspamc shows both alike."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from helpers.ports import free_ports
from helpers.programs import needs
from helpers.serving import LOOPBACK, Client, post, refuses
from helpers.waiting import PATIENCE, until

pytestmark = needs("rspamc", "rspamd")

# Bayes alone; words that were learned once count.
SETTINGS = """
options {{
  pidfile = "{folder}/pid"; filters = ""; cache_file = "{folder}/cache"; stats_file = "{folder}/stats";
  control_socket = "{folder}/control"; history_file = "{folder}/history";
  url_tld = "{folder}/domains";  # to prepare its own of 9,628 takes it 16 s at its first start
  dns {{ nameserver = ["127.0.0.1:9"]; }}
}}
logging {{ type = "console"; level = "warning"; }}
actions {{ add_header = 5; }}
symbol {{ name = "BAYES_SPAM"; weight = 20.0; description = "words of spam"; }}
symbol {{ name = "BAYES_HAM"; weight = -3.0; description = "words of ham"; }}
classifier "bayes" {{
  tokenizer {{ name = "osb"; }}
  backend = "sqlite3"; min_tokens = 0; min_learns = 0; min_prob_strength = 0;
  cache {{ type = "sqlite3"; path = "{folder}/learned"; }}
  statfile {{ symbol = "BAYES_HAM"; spam = false; path = "{folder}/ham"; }}
  statfile {{ symbol = "BAYES_SPAM"; spam = true; path = "{folder}/spam"; }}
}}
worker "controller" {{ bind_socket = "127.0.0.1:{port}"; count = 1; password = "secret"; secure_ip = []; }}
"""
WITH = {"Password": "secret"}


@pytest.fixture(scope="module")
def rspamd():
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:
        settings, log = Path(folder, "rspamd.conf"), Path(folder, "log")
        settings.write_text(SETTINGS.format(folder=folder, port=port))
        Path(folder, "domains").write_text("com\n")
        with log.open("wb") as file:
            command = ["rspamd", "--no-fork", "--insecure", "-c", str(settings)]
            process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
        try:
            client = Client(f"127.0.0.1:{port}")
            until(lambda: not refuses(client), log.read_text)
            yield client
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def ours(serving, own, tmp_path):
    (tmp_path / "password").write_text("secret\n")
    options = {"http": (LOOPBACK,), "http_password": str(tmp_path / "password"), "allow_tell": True}
    return Client(serving(model=own, **options).http)


def requests(mail):
    spam, ham = mail.messages["spam"], mail.messages["ham"]
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(spam), spam)
    chunked = post("/checkv2", chunks, Content_Length=None, Transfer_Encoding="chunked", **WITH)
    return {
        "learn spam": post("/learnspam", spam, **WITH),
        "learn ham": post("/learnham", ham, **WITH),
        "move": post("/learnham", spam, **WITH),
        "move back": post("/learnspam", spam, **WITH),
        "learn nothing": post("/learnspam", b"", **WITH),
        "learn without": post("/learnspam", spam),
        "learn with another": post("/learnspam", spam, Password="x"),
        "spam": post("/checkv2", spam, **WITH),
        "ham": post("/checkv2", ham, User="ann", From="a@b.example", Rcpt="c@d.example", **WITH),
        "chunks": chunked,
        "old": post("/checkv2", spam, **WITH).replace(b"HTTP/1.1", b"HTTP/1.0"),
        "ping": b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "stat": b"GET /stat HTTP/1.1\r\nHost: localhost\r\nPassword: secret\r\n\r\n",
        "stat without": b"GET /stat HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "auth": b"GET /auth HTTP/1.1\r\nHost: localhost\r\nPassword: secret\r\n\r\n",
        "another path": b"GET /xyzzy HTTP/1.1\r\nHost: localhost\r\nPassword: secret\r\n\r\n",
    }


def shape(answer):
    """Status, and of JSON the types by name; the names of symbols differ."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nConnection: close\r\n" in head
    if b"Content-Type: application/json" not in head or b" 404 " in head:
        return head.split(b" ")[1], {"": body.lower() == b"pong\r\n"}
    content = json.loads(body)
    for symbol in content.pop("symbols", {}).values():
        content |= {f"symbol {name}": value for name, value in symbol.items()}
    for file in content.pop("statfiles", ()):
        content |= {f"file {name}": value for name, value in file.items()}
    return head.split(b" ")[1], {name: type(value) for name, value in content.items()}


def test_the_same_shapes(rspamd, ours, mail):
    """What rspamd tells is told, and more may be; of its state, what both have is of one type."""
    for name, asked in requests(mail).items():
        (status, told), (their_status, theirs) = (shape(one.ask(asked, end=False)) for one in (ours, rspamd))
        assert status == their_status, name
        if name in ("stat", "auth"):
            theirs = {each: kind for each, kind in theirs.items() if each in told}
            assert len(theirs) >= 5
        assert theirs.items() <= told.items(), name


def test_rspamc_shows_the_same(rspamd, ours, mail):
    """All lines but those that depend on the verdict, and on what was asked before."""
    differ = re.compile("Messages with|Average|X-Spam$")

    def shown(server, *arguments):
        command = ["rspamc", "-h", server.address, "-P", "secret", *arguments]
        done = subprocess.run(command, input=mail.messages["spam"], capture_output=True, timeout=PATIENCE)
        names = re.findall(r"^[\w -]+?(?=:| =)", done.stdout.decode(), re.MULTILINE)
        return done.returncode, [name for name in names if not differ.match(name)]

    for arguments in (["learn_ham"], ["learn_spam"], [], ["-m"], ["-p"], ["stat"], ["uptime"]):
        assert shown(ours, *arguments) == shown(rspamd, *arguments), arguments
