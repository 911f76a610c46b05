"""Nothing of a message or a file name reaches a terminal, a log, a header or a page as it came."""

import base64
import os
from pathlib import Path

import pytest
from helpers.samples import ENOUGH
from helpers.screens import ESCAPES, on_a_terminal

from spamnb.bayes.verdict import Verdict
from spamnb.core.native import read
from spamnb.delivery.log_line import write_syslog
from spamnb.reading.envelope import read_envelope
from spamnb.serve.log import Log

# A title for the terminal, blinking letters, the same in one byte, a bell, a line that overwrites, one that
# injects a header, letters turned round, ends of lines that only Unicode knows, and markup.
ORDERS = (
    "\x1b]0;owned\x07\x1b[5mblink\x9b5m\x08\x7f\rX-Evil: yes\r\nX-Evil: yes\n\u202eturned\u2066\u200f"
    "\u2028\u2029\x85\x0b\x0c\ufeff</td></title><script>alert(1)</script><img src=x onerror=alert(2)>"
)
FORGED = "a\nham score=0 \x1b[5m"
ESCAPED = r"a\x0aham\x20score=0\x20\x1b[5m"
FILE_NAME = "0 " + ORDERS.replace("/", "").replace("\0", "")[:150]
PACKED = base64.b64encode(ORDERS.encode()).decode()
QUOTED = "".join(f"={byte:02X}" for byte in ORDERS.encode())


def letter(words: str, n: int) -> bytes:
    """Orders in every place of a message that somebody may be shown."""
    flat = ORDERS.replace("\n", " ").replace("\r", " ")
    return f"""From: =?utf-8?q?{QUOTED}?= <{flat}@{words.split()[0]}.example>
Subject: =?utf-8?b?{PACKED}?= {words} {flat}
Message-ID: <{flat}{n}@{flat}>
X-{flat.replace(" ", "")}: {flat}
Content-Type: multipart/mixed; boundary="b{flat[:5]}"

--b{flat[:5]}
Content-Type: text/{flat}; charset="{flat}"

{words} {ORDERS} {words}{n}
--b{flat[:5]}
Content-Type: text/html; charset=utf-8

<title>{ORDERS}</title><{flat}><p>{words} {ORDERS}</p><a href="http://{flat}.example/{flat}">{words}</a>
--b{flat[:5]}
Content-Type: application/x; name="{words} {flat}.{flat}"

x
--b{flat[:5]}--
""".encode()


class Hostile:
    """Folders of such mail under such names, a mailbox, a damaged file, and a model of it all."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ham, self.spam = root / "ham", root / "spam"
        for folder, words in ((self.ham, "meeting agenda notes"), (self.spam, "casino pills bonus")):
            folder.mkdir()
            for n in range(ENOUGH):
                (folder / f"{FILE_NAME}{n}").write_bytes(letter(words, n))
        # Under the wrong label, so that there are mistakes to be shown.
        (self.ham / f"{FILE_NAME}wrong").write_bytes(letter("casino pills bonus", 99))
        self.message = self.spam / f"{FILE_NAME}0"
        self.box = root / f"{FILE_NAME}.mbox"
        self.box.write_bytes(
            b"".join(b"From a@b Mon Nov 16 01:02:03 2026\n" + letter("pills", n) + b"\n" for n in range(3))
        )
        self.damaged = root / f"{FILE_NAME}.gz"
        self.damaged.write_bytes(b"\x1f\x8b\x08" + b"\xff" * 40)
        self.bytes_name = root / os.fsdecode(b"name \xff\x9b\x1b[5m")
        self.bytes_name.write_bytes(letter("pills", 7))
        self.model = root / "model.msgpack"
        self.other = root / "other.msgpack"


@pytest.fixture(scope="module")
def hostile(spamnb, tmp_path_factory):
    made = Hostile(tmp_path_factory.mktemp("hostile"))
    for model in (made.model, made.other):
        spamnb("train", "--jobs", "1", "--model", model, made.ham, made.spam).succeeds()
    return made


def assert_harmless(said: bytes) -> None:
    text = said.decode()
    bad = {char for char in text if not char.isprintable()} - {"\n", "\t"}
    assert not bad, text


RUNS = {
    "classify": "classify {ham} {spam} {box} {bytes_name}",
    "classify a damaged file": "classify {damaged}",
    "inspect": "inspect --top 1000",
    "inspect a message": "inspect {message} --top 1000",
    "inspect all of a message": "inspect --all {message}",
    "inspect tokens": "inspect --token {orders} subject:owned url:blink",
    "evaluate": "evaluate --folds 2 --top 100 {ham} {spam} --jobs 1",
    "evaluate online": "evaluate --online {ham} {spam} --jobs 1",
    "train": "train --model {root}/new --ham {ham} --spam {spam} --spam {damaged} --jobs 1",
    "export": "export",
    "no such file": "classify {orders}",
    "no such model": "classify --model {orders} {message}",
    "no such option": "classify --{orders}",
    "import of no export": "import {message}",
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_printed(spamnb, hostile, name):
    places = {**vars(hostile), "orders": ORDERS.replace("\0", "")}
    words = [word.format(**places) for word in RUNS[name].split(" ")]
    if words[0] in ("classify", "inspect", "export") and "--model" not in words:
        words[1:1] = ["--model", str(hostile.model)]
    done = spamnb(*words)
    assert_harmless(done.out)
    assert_harmless(done.err)
    assert done.out or done.err
    assert b"unexpected" not in done.err
    assert b"Traceback" not in done.err


@pytest.mark.parametrize("style", ["spamnb", "bogofilter", "spamassassin"])
def test_a_header_of_ours_holds_nothing_of_the_message(spamnb, hostile, style):
    raw = hostile.message.read_bytes()
    options = ("classify", "-p", "--header-style", style, "--model", hostile.model)
    done = spamnb.afresh(*options, stdin=raw).succeeds()
    ours = done.out.removesuffix(raw)
    assert done.out == ours + raw
    assert_harmless(ours)
    names = {line.partition(":")[0] for line in ours.decode().splitlines()}
    assert names <= {"X-Spamnb", "X-Bogosity", "X-Spam-Flag", "X-Spam-Level", "X-Spam-Status"}


@pytest.mark.parametrize("line", ["inspect {message}", "classify {ham} {damaged}", "inspect --top 300"])
def test_at_a_terminal(spamnb, hostile, line):
    """Where there are colours, and escapes of our own: none of these."""
    words = [word.format(**vars(hostile)) for word in line.split(" ")]
    shown = on_a_terminal(spamnb, words[0], "--model", str(hostile.model), *words[1:])[0]
    assert "owned" in shown
    assert "\x1b[5m" not in shown
    assert not {char for char in ESCAPES.sub("", shown) if not char.isprintable()} - {"\n", "\t", "\r"}


def test_labels_and_users_in_logs_are_escaped(monkeypatch, capfd):
    """Of a forged model, or of a client."""
    verdict, raw = Verdict(FORGED, 0.5, 0.5, {}, []), f"Message-ID: {FORGED}\n\n".encode()
    verdict.reason = FORGED
    sent = []
    monkeypatch.setattr("syslog.syslog", lambda _, line: sent.append(line))
    write_syslog(verdict, len(raw), read_envelope(raw))
    Log().judged(verdict, len(raw), read(raw), 0.0, "CHECK", user=FORGED, model=FORGED)
    Log().learned("learned", FORGED, raw, 0.0, user=FORGED, model=FORGED)
    logged = capfd.readouterr().err
    assert [len(sent), sent[0].count(ESCAPED), logged.count("\n"), logged.count(ESCAPED)] == [1, 2, 2, 7]
    assert "\n" not in sent[0]
    assert "\x1b" not in sent[0] + logged
