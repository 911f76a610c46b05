"""Debian's own spamd is asked the same, and answers in the same shape."""

import os
import re
import signal
import subprocess
import tempfile
import zlib
from pathlib import Path

import pytest
from helpers.ports import free_ports
from helpers.programs import needs
from helpers.serving import Client, refuses, request
from helpers.waiting import until

pytestmark = needs("spamd")

RULES = """
loadplugin Mail::SpamAssassin::Plugin::Check
loadplugin Mail::SpamAssassin::Plugin::Bayes
"""
SETTINGS = """
body CASINO /casino/
describe CASINO A word of spam
score CASINO 12
body AGENDA /agenda/
score AGENDA -1
report_safe 0
use_bayes 1
bayes_path {folder}/bayes
"""


def requests(mail):
    spam, ham = mail.messages["spam"], mail.messages["ham"]
    tell = b"Subject: lesson\n\nxyzzy\n"
    asked = {
        f"{command} {label} {version}": request(command, raw, version)
        for command in ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS")
        for label, raw in (("ham", ham), ("spam", spam))
        for version in ("1.1", "1.2", "1.3", "1.5")
    }
    return asked | {
        "1.0": b"CHECK SPAMC/1.0\r\n" + spam,
        "packed": request("CHECK", zlib.compress(spam), Compress="zlib"),
        "no length": request("CHECK", spam, Content_length=None),
        "ping": b"PING SPAMC/1.2\r\n",
        "ping 1.5": b"PING SPAMC/1.5\r\n\r\n",
        "ping cut": b"PING SPAMC/1.5\r\n",
        "skip": b"SKIP SPAMC/1.5\r\n\r\n",
        "nothing": b"",
        "nonsense": b"GET / HTTP/1.0\r\n\r\n",
        "no colon": b"CHECK SPAMC/1.5\r\nfoo\r\n\r\n",
        "bad length": request("CHECK", spam, Content_length="12a"),
        "long": request("CHECK", spam, Content_length=len(spam) + 9),
        "short": request("CHECK", spam, Content_length=len(spam) - 9),
        "cut": b"CHECK SPAMC/1.5\r\nContent-length: 5\r\n",
        "many": b"CHECK SPAMC/1.5\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        "user": request("CHECK", spam, User="a\x01b"),
        "gzip": request("CHECK", spam, Compress="gzip"),
        "packed, no length": request("CHECK", zlib.compress(spam), Compress="zlib", Content_length=None),
        "learn": request("TELL", tell, Message_class="spam", Set="local"),
        "learn again": request("TELL", tell, Message_class="spam", Set="local"),
        "move": request("TELL", tell, Message_class="ham", Set="local"),
        "forget": request("TELL", tell, Remove="local"),
        "forget again": request("TELL", tell, Remove="local"),
        "both": request("TELL", tell, Message_class="spam", Set="local", Remove="local"),
        "neither": request("TELL", tell),
    }


def shape(answer):
    """Without what differs from filter to filter: the score, and the text below the headers."""
    head, end, text = answer.partition(b"\r\n\r\n")
    if answer.startswith(b"SPAMD/1.0 0 "):
        head, end, text = answer.partition(b"\r\n")
    head = re.sub(rb"-?\d+\.\d / 5\.0", b"SCORE / 5.0", head)
    if b"\r\nContent-length" in head:
        assert b"Content-length: %d\r\n" % len(text) in head + b"\r\n"
        head = re.sub(rb"Content-length: [1-9]\d*", b"Content-length: SOME", head)
    return head + end, bool(text)


@pytest.fixture(scope="module")
def spamd():
    """In a folder that nobody can read and write, for root's spamd becomes that user."""
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        for name, text in (("rules.pre", RULES), ("rules.cf", SETTINGS.format(folder=folder))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        command = ["spamd", "-L", "-x", "-C", folder, f"--siteconfigpath={folder}", "-p", str(port)]
        command += ["-i", "127.0.0.1", "-m", "1", "--allow-tell", "-s", "stderr", "-H", folder]
        command += ["-u", "nobody"] if os.getuid() == 0 else []
        log = os.path.join(folder, "log")
        with open(log, "wb") as file:
            process = subprocess.Popen(command, stderr=file, stdout=file, start_new_session=True)
        try:
            yield asking(port, log)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def asking(port, log):
    """A client, once the server is there."""
    client = Client(f"127.0.0.1:{port}")
    until(lambda: not refuses(client), Path(log).read_text)
    return client


def test_the_same_shapes(spamd, serving, own, mail):
    server = serving(model=own, allow_tell=True)
    asked = requests(mail)
    ours, theirs = ({name: shape(one.ask(asked[name])) for name in asked} for one in (server, spamd))
    assert ours == theirs
    assert len(asked) > 70
