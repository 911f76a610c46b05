"""`spamnb thunderbird`, spoken to as Thunderbird does."""

import json
import os
import signal
import struct
import subprocess
import sys
import zipfile
from typing import Any

import pytest
from helpers.paths import ROOT
from helpers.samples import ENOUGH, ham, spam

from spamnb.core.native import hash_of_message, read
from spamnb.history.log import file_names
from spamnb.store.stored_model import StoredModel


def text(raw):
    """A message as the add-on sends it: a character for each byte."""
    return raw.decode("latin-1")


class Host:
    """The program, and a pipe to each side."""

    def __init__(self, spamnb, model, folder, program=None):
        home = {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "SPAMNB_MODEL": str(model)}
        self.process: Any = subprocess.Popen(
            program or [spamnb.program, "thunderbird"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | home,
        )
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, data):
        self.process.stdin.write(struct.pack("=I", len(data)) + data)
        self.process.stdin.flush()

    def receive(self):
        (size,) = struct.unpack("=I", self.process.stdout.read(4))
        assert size <= 1 << 20
        return json.loads(self.process.stdout.read(size))

    def ask(self, do, **values):
        self.asked += 1
        self.send(json.dumps({"id": self.asked, "do": do, **values}, ensure_ascii=False).encode())
        answer = self.receive()
        assert answer.pop("id") == self.asked
        return answer

    def end(self):
        out, err = self.process.communicate()
        assert (self.process.returncode, out, err) == (0, b"", b"")


@pytest.fixture
def model(tmp_path):
    return tmp_path / "model.msgpack"


@pytest.fixture
def host(spamnb, model, tmp_path):
    with Host(spamnb, model, tmp_path) as host:
        yield host


def train(host, count=ENOUGH):
    assert host.ask("train") == {}
    for n in range(count):
        assert host.ask("mail", message=text(ham(n)), label="ham") == {}
        assert host.ask("mail", message=text(spam(n)), label="spam") == {}
    return host.ask("end")


def label_of(model, raw):
    return StoredModel.open(str(model)).label_of(hash_of_message(read(raw)))


def test_trains_and_judges(host, model):
    assert host.ask("status") == {"model": str(model), "messages": {}, "can_judge": False}
    counts = {"messages": {"ham": ENOUGH, "spam": ENOUGH}, "can_judge": True}
    outcomes = {"ham": {"learned": ENOUGH}, "spam": {"learned": ENOUGH}}
    assert train(host) == {"outcomes": outcomes, "model": str(model), **counts}
    assert host.ask("status") == {"model": str(model), **counts}
    assert host.ask("judge", message=text(ham(50)))["verdict"] == "ham"
    assert host.ask("judge", message=text(spam(50)))["verdict"] == "spam"
    host.end()


def test_learns_moves_and_forgets(host, model):
    raw = b"From: Carl <carl@example.net>\r\nSubject: xyzzy\r\n\r\nplugh, said caf\xe9\0\r\n"
    for label, outcome in (("spam", "learned"), ("spam", "known"), ("ham", "moved"), (None, "forgotten")):
        assert host.ask("learn", message=text(raw), label=label) == {"outcome": outcome}
        assert label_of(model, raw) == label


def test_a_lesson_acknowledged_survives_a_kill(host, model):
    for n in range(5):
        host.ask("learn", message=text(spam(n)), label="spam")
    host.process.send_signal(signal.SIGKILL)
    host.process.wait()
    assert [label_of(model, spam(n)) for n in range(5)] == ["spam"] * 5


def test_training_broken_off_changes_nothing(host, model):
    host.ask("train")
    host.ask("mail", message=text(ham(1)), label="ham")
    host.process.stdin.close()
    assert host.receive() == {
        "id": 2,
        "error": "training was interrupted; nothing was learned",
        "kind": "InputOutputError",
    }
    assert host.process.wait() == 0
    assert not model.exists()


def test_a_lesson_during_training_is_kept(spamnb, host, model, tmp_path):
    host.ask("learn", message=text(spam(98)), label="spam")
    host.ask("train")
    host.ask("mail", message=text(ham(1)), label="ham")
    with Host(spamnb, model, tmp_path) as other:
        assert other.ask("learn", message=text(spam(99)), label="spam") == {"outcome": "learned"}
    host.ask("end")
    assert [label_of(model, raw) for raw in (ham(1), spam(98), spam(99))] == ["ham", "spam", "spam"]


def test_a_page_says_why_in_pieces_that_fit(host):
    train(host)
    page = host.ask("why", message=text(spam(50)))
    assert not page["more"]
    assert page["page"].startswith("<!doctype html>")
    assert "<script>alert" not in page["page"]
    words = b"".join(b"viagra casino <script>alert(%d)</script> word%d\n" % (n, n) for n in range(9000))
    host.send(json.dumps({"id": 0, "do": "why", "message": text(spam(51) + words)}).encode())
    pieces = [host.receive()]
    while pieces[-1]["more"]:
        pieces.append(host.receive())
    whole = "".join(piece["page"] for piece in pieces)
    assert len(pieces) > 1
    assert whole.startswith("<!doctype html>")
    assert whole.endswith("</html>\n")
    assert "<script" not in whole
    assert host.ask("status")["can_judge"]


REFUSED = {
    "this is not a request: it must be one JSON object": [b"", b"{", b"\xff\xfe", b"[" * 100_000],
    "a request needs a number in `id`": [b"[1]", b'{"do": "status"}', b'{"id": true, "do": "status"}'],
    "the request has an unknown command in `do`, or none": [b'{"id": 7}', b'{"id": 7, "do": ["judge"]}'],
    "the message is empty": [
        b'{"id": 7, "do": "judge"%s}' % message
        for message in (b"", b', "message": " \\n"', b', "message": 5')
    ],
    "each character of the message must be one byte, from 0 to 255": [
        b'{"id": 7, "do": "judge", "message": "\\u%s"}' % code for code in (b"20ac", b"d800")
    ],
    "the label must be ham or spam": [
        b'{"id": 7, "do": "learn", "message": "a", "label": "work"}',
        b'{"id": 7, "do": "learn", "message": "a", "label": {}}',
        b'{"id": 7, "do": "mail", "message": "a"}',
    ],
    "send the request `train` before `mail` and `end`": [
        b'{"id": 7, "do": "mail", "message": "a", "label": "ham"}',
        b'{"id": 7, "do": "end"}',
    ],
}


@pytest.mark.parametrize(("asked", "error"), [(asked, why) for why in REFUSED for asked in REFUSED[why]])
def test_what_makes_no_sense_is_refused(host, model, asked, error):
    host.send(asked)
    answer = host.receive()
    assert answer == {"id": 7 if b'"id": 7' in asked else None, "error": error, "kind": "DataError"} or (
        b"true" in asked and answer["error"] == error
    )
    assert host.ask("status")["messages"] == {}
    assert not model.exists()
    host.end()


def test_without_a_model(host, model):
    answer = host.ask("judge", message=text(ham(1)))
    assert answer["kind"] == "NoModel"
    assert str(model) in answer["error"]
    assert host.ask("why", message=text(ham(1)))["kind"] == "NoModel"


def test_a_damaged_model_is_no_empty_one(host, model):
    model.write_bytes(b"\x81\xa6format\xa6other!" * 50)
    for answer in (
        host.ask("status"),
        host.ask("judge", message="a"),
        host.ask("learn", message="a", label="ham"),
        host.ask("train"),
    ):
        assert (answer["kind"], str(model) in answer["error"]) == ("ModelError", True)


def test_a_request_that_is_too_large_is_skipped(spamnb, model, tmp_path):
    small = "import spamnb.thunderbird.host as host; host.MAX_REQUEST = 1000; host.run()"
    with Host(spamnb, model, tmp_path, [sys.executable, "-c", small]) as host:
        host.send(b'{"id": 1, "message": "' + b"a" * 5000 + b'"}')
        assert host.receive() == {"id": None, "error": "the message is too large", "kind": "DataError"}
        assert host.ask("status")["messages"] == {}


def test_a_pipe_closed_within_a_request_ends_it(host):
    host.process.stdin.write(struct.pack("=I", 100) + b'{"id": 1')
    host.process.stdin.close()
    assert host.process.wait() == 0
    assert host.process.stderr.read() == b""


def test_the_history_has_what_was_judged(spamnb, model, tmp_path):
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "spamnb.toml").write_text("history = true\n")
    program = ["env", f"XDG_CONFIG_HOME={tmp_path}", spamnb.program, "thunderbird"]
    with Host(spamnb, model, tmp_path, program) as host:
        train(host)
        host.ask("judge", message=text(ham(50)))
    (name,) = file_names(str(tmp_path / "spamnb" / "history"))
    assert b"thunderbird" in (tmp_path / "spamnb" / "history" / name).read_bytes()


def test_installing_leads_thunderbird_here(spamnb, model, tmp_path):
    env = os.environ | {"HOME": str(tmp_path), "SPAMNB_MODEL": f"{model} 'x"}
    done = spamnb.afresh("thunderbird", "install", tmp_path / "a.xpi", env=env)
    assert done.succeeds()
    manifest = json.loads((tmp_path / ".mozilla/native-messaging-hosts/spamnb.json").read_bytes())
    about = json.loads((ROOT / "thunderbird" / "manifest.json").read_bytes())
    assert manifest["allowed_extensions"] == [about["browser_specific_settings"]["gecko"]["id"]]
    with Host(spamnb, model, tmp_path, [manifest["path"], "any.json", "spamnb@spamnb.org"]) as host:
        assert host.ask("status")["model"] == f"{model} 'x"
    with zipfile.ZipFile(tmp_path / "a.xpi") as add_on:
        files = {path.name: path.read_bytes() for path in (ROOT / "thunderbird").iterdir()}
        assert {name: add_on.read(name) for name in add_on.namelist()} == files


def test_installing_says_what_it_cannot_write(spamnb, tmp_path):
    env = os.environ | {"HOME": str(tmp_path)}
    spamnb("thunderbird", "install", tmp_path / "none" / "a.xpi", env=env).fails(73, "none/a.xpi")


def test_the_add_on_writes_no_html():
    """Text of mail becomes HTML in the host alone, which escapes it; a page is shown without rights."""
    scripts = "".join(path.read_text() for path in (ROOT / "thunderbird").glob("*.js"))
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http"):
        assert way not in scripts
    assert '<iframe id="page" sandbox=""' in (ROOT / "thunderbird" / "why.html").read_text()
