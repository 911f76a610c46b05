"""`spamnb serve --http` speaks rspamd's protocol: Debian's rspamc, and requests of every kind."""

import json
import subprocess

import pytest
from helpers.programs import needs
from helpers.serving import LOOPBACK, everything, post
from helpers.waiting import PATIENCE

from spamnb.model import Model

NEW = b"Subject: xyzzy\n\nplugh\n"


@pytest.fixture(scope="module")
def server(serving):
    """One that no test changes."""
    return serving(http=(LOOPBACK,), max_size=20_000)


@pytest.fixture
def teachable(serving, own, tmp_path):
    """Users with a model of their own if they are taught, at a port with a password and at a Unix socket."""
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "users" / "ann").mkdir(parents=True)
    options = {"model": own, "user_models": str(tmp_path / "users")}
    options |= {"http_password": str(tmp_path / "password"), "allow_tell": True}
    return serving(http=(LOOPBACK, f"unix:{tmp_path}/http"), **options)


def rspamc(address, *arguments, stdin=b""):
    command = ["rspamc", "-h", address.removeprefix("unix:"), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout.decode()


def ask(server, asked, **options):
    """Status and body of the answer, whose length is as it says."""
    head, _, body = server.ask(asked, address=server.http.partition(" and ")[0], **options).partition(
        b"\r\n\r\n"
    )
    assert b"\r\nContent-Length: %d\r\n" % len(body) in head
    status = int(head.split(b" ")[1])
    return status, json.loads(body) if b"application/json" in head else body.decode()


def without_time(answer):
    status, content = answer
    return status, {name: value for name, value in content.items() if name != "time_real"}


@needs("rspamc")
@pytest.mark.parametrize(("label", "options"), [("ham", []), ("spam", []), ("unsure", ["-F", "a@b"])])
def test_the_verdict(server, spamnb, mail, label, options):
    raw = mail.messages[label]
    verdict = Model.open(spamnb.model).classify(raw)
    code, out = rspamc(server.http, "-j", *options, stdin=raw)
    said = json.loads(out)
    symbol = f"SPAMNB_{label.upper()}"
    assert code == 0
    assert (said["score"], said["required_score"]) == (verdict.points, 5.0)
    assert said["action"] == ("add header" if label == "spam" else "no action")
    assert list(said["symbols"]) == [symbol]
    assert said["symbols"][symbol]["score"] == verdict.points
    assert any("casino" in each for each in said["symbols"][symbol]["options"]) == (label == "spam")
    header = spamnb("classify", "-p", stdin=raw).out.partition(b"\n")[0].decode()
    ((name, added),) = said["milter"]["add_headers"].items()
    assert f"{name}: {added['value']}" == header
    assert said["milter"]["remove_headers"] == {name: 0, f"{name}-Reason": 0}
    assert f"Spam: {'true' if label == 'spam' else 'false'}\n" in rspamc(server.http, stdin=raw)[1]


@needs("rspamc")
def test_teaching(teachable, spamnb, tmp_path):
    """At the port, a password is required; at the path, the kernel names the client's user."""
    port, path = teachable.http.split(" and ")
    anns = tmp_path / "users" / "ann" / "model.msgpack"
    assert rspamc(port, "learn_spam", stdin=NEW)[0] == rspamc(port, "-P", "x", stdin=NEW)[0] == 1
    teachable.wait_for("refused: Unauthorized")
    for where, options, label, model in (
        (port, ["-P", "secret", "-d", "ann"], "spam", anns),
        (path, ["-r", "<Ann+x@example.org>", "-r", "bob"], "ham", anns),
        (path, ["-u", "ann"], "ham", anns),
    ):
        code, out = rspamc(where, *options, f"learn_{label}", stdin=NEW)
        assert (code, "success = true" in out) == (0, True), out
        known = spamnb("train", f"--{label}", "-", "--model", model, stdin=NEW).succeeds().lines
        assert known == [f"{label}: 1 already learned"]


def test_the_password_is_asked_for_all_but_ping(teachable, mail):
    assert ask(teachable, b"GET /ping HTTP/1.0\r\n\r\n")[0] == 200
    for path in ("/metrics", "/checkv2", "/learnham"):
        for given in ({}, {"Password": "Secret"}, {"Password": "secre\u0301t"}):
            assert ask(teachable, post(path, mail.messages["ham"], **given))[0] == 401
    assert ask(teachable, post("/checkv2", mail.messages["ham"], Password="secret"))[0] == 200


def test_where_others_can_connect_a_password_has_to_be(spamnb, tmp_path):
    """At any address of this machine: the one that all machines reach."""
    (tmp_path / "empty").write_text("\n")
    asked = ("serve", "--listen", LOOPBACK, "--http", "0.0.0.0:0")
    spamnb(*asked).fails(64, "other machines can reach it")
    spamnb(*asked, "--allow-network").fails(64, "can reach needs --http-password")
    for name, code, why in (("none", 66, "No such file"), ("empty", 64, "no password in the first line")):
        spamnb(*asked, "--allow-network", "--http-password", tmp_path / name).fails(code, why)


def chunked(raw, size):
    pieces = (raw[at : at + size] for at in range(0, len(raw), size))
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n"


CHUNKED = b"POST /checkv2 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_other_ways_to_ask_the_same(server, mail):
    raw = mail.messages["spam"]
    whole = without_time(ask(server, post("/checkv2", raw)))
    assert whole[0] == 200
    for asked in (
        post("/checkv2?x=y", raw),
        post("/checkv2", raw).replace(b"Content-Length", b"content-LENGTH"),
        post("/checkv2", raw, Deliver_To="ann", User="bob"),
        *(CHUNKED + chunked(raw, size) + b"X: y\r\n\r\n" for size in (1, 7, 10_000)),
    ):
        for end in (True, False):
            assert without_time(ask(server, asked, end=end)) == whole
    with server.connect(server.http) as client:
        client.sendall(post("/checkv2", b"", Content_Length=len(raw), Expect="100-continue"))
        assert client.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(raw)
        assert everything(client).startswith(b"HTTP/1.1 200 OK\r\n")


ERRORS = {
    "nothing": (b"", 400),
    "an endless line": (b"x" * 100_000, 400),
    "for a terminal": (b"GET /\x1b[2J HTTP/1.0\r\n\r\n", 400),
    "too long a length": (post("/checkv2", b"abc", Content_Length=7), 400),
    "endless chunks": (CHUNKED + chunked(b"x" * 15_000, 1), 400),
    "large": (post("/checkv2", b"x" * 20_001), 413),
    "compressed": (post("/checkv2", b"x", Compression="zstd"), 415),
    "another host for metrics": (b"GET /metrics HTTP/1.1\r\nHost: evil.example:11334\r\n\r\n", 421),
    "teaching": (post("/learnspam", NEW), 403),
    "a web page": (post("/checkv2", b"x", Origin="http://example.org"), 403),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(server, name):
    asked, status = ERRORS[name]
    said, why = ask(server, asked)
    assert said == status, why
    server.wait_for(why["error"])
    assert server.log.replace("\n", "").isprintable()


def test_reject(serving, mail):
    server = serving(http=(LOOPBACK,), reject=True)
    assert ask(server, post("/checkv2", mail.messages["spam"]))[1]["action"] == "reject"
    assert ask(server, post("/checkv2", mail.messages["unsure"]))[1]["action"] == "no action"


def test_a_failure_says_no_more_than_that(serving, tmp_path):
    server = serving(http=(LOOPBACK,), model=str(tmp_path / "none"), user_models=str(tmp_path))
    assert ask(server, post("/checkv2", NEW)) == (500, {"error": "see the log of the server"})
    raw = b"Message-ID: <1 2@a.example>\n\nx\n"
    ask(server, post("/checkv2", raw, User="ann"))
    assert server.wait_for("user=ann").endswith(r" user=ann id=<1\x202@a.example>")
