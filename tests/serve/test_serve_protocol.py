"""`spamnb serve` speaks spamd's protocol, and says what `spamnb classify` says."""

import zlib

import pytest
from helpers.serving import request

from spamnb.model import Model
from spamnb.passthrough import passed_through

# The shapes are those of spamd 4.0.1, taken from the wire; test_serve_oracle.py asks the program itself.
STATUS = b"SPAMD/1.1 0 EX_OK\r\n"
COMMANDS = ["CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"]


@pytest.fixture(scope="module")
def model(spamnb):
    return Model.open(spamnb.model)


def score(verdict, words=("True", "False")):
    return f"Spam: {words[verdict.label != 'spam']} ; {verdict.points:.1f} / 5.0\r\n".encode()


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_check(server, mail, model, label):
    raw = mail.messages[label]
    verdict = model.classify(raw)
    assert verdict.label == label
    assert (verdict.points >= 5.0) == (label == "spam")
    assert server.ask(request("CHECK", raw)) == STATUS + score(verdict) + b"\r\n"


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_process_gives_the_message_as_classify_does(server, spamnb, mail, model, label):
    raw = mail.messages[label]
    passed = spamnb("classify", "-p", stdin=raw).succeeds().out
    length = b"Content-length: %d\r\n" % len(passed)
    assert (
        server.ask(request("PROCESS", raw)) == STATUS + length + score(model.classify(raw)) + b"\r\n" + passed
    )


def test_headers_gives_the_header_and_its_end(server, mail, model):
    raw = mail.messages["spam"]
    head = passed_through(raw, model.classify(raw)).partition(b"\n\n")[0] + b"\n\n"
    assert server.ask(request("HEADERS", raw)).partition(b"\r\n\r\n")[2] == head


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_symbols_names_the_verdict(server, mail, label):
    symbol = f"SPAMNB_{label.upper()}".encode()
    head, _, body = server.ask(request("SYMBOLS", mail.messages[label])).partition(b"\r\n\r\n")
    assert body == symbol
    assert b"Content-length: %d\r\n" % len(symbol) in head


def test_report_tells_the_evidence(server, mail):
    report = server.ask(request("REPORT", mail.messages["spam"])).partition(b"\r\n\r\n")[2].decode()
    assert report.startswith("spamnb says spam: ")
    assert "casino" in report
    assert report.isprintable() or set(report) - {"\n"}


def test_report_if_spam(server, mail, model):
    ham, spam = mail.messages["ham"], mail.messages["spam"]
    words = ("Yes", "No")
    silent = STATUS + b"Content-length: 0\r\n" + score(model.classify(ham), words) + b"\r\n"
    assert server.ask(request("REPORT_IFSPAM", ham)) == silent
    assert score(model.classify(spam), words) + b"\r\nspamnb says spam" in server.ask(
        request("REPORT_IFSPAM", spam)
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_old_clients_get_what_they_understand(server, mail, command):
    raw = mail.messages["spam"]
    newest = server.ask(request(command, raw))
    head, _, body = newest.partition(b"\r\n\r\n")
    assert server.ask(request(command, raw, "1.3")) == newest
    for version in ("1.0", "1.1", "1.2"):
        asked = (
            request(command, raw, version) if version != "1.0" else f"{command} SPAMC/1.0\r\n".encode() + raw
        )
        said = server.ask(asked)
        if command in ("PROCESS", "HEADERS"):
            length = b"Content-length: %d\r\n\r\n" % len(body)
            assert said == (STATUS + length if version == "1.2" else b"SPAMD/1.0 0 EX_OK\r\n") + body
        else:
            lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-length")]
            end = b"\r\n" if command == "SYMBOLS" else b""
            assert said == b"\r\n".join(lines) + b"\r\n\r\n" + body + end


@pytest.mark.parametrize("asked", [b"PING SPAMC/1.2\r\n", b"PING SPAMC/1.5\r\n\r\n"])
def test_ping(server, asked):
    assert server.ask(asked, end=False) == b"SPAMD/1.5 0 PONG\r\n"


@pytest.mark.parametrize("asked", [b"SKIP SPAMC/1.2\r\n", b"SKIP SPAMC/1.5\r\n\r\n"])
def test_skip(server, asked):
    assert server.ask(asked, end=False) == b""


BAD = "76 Bad header line: "
UNAVAILABLE = "69 Service Unavailable: "
CHECK = b"CHECK SPAMC/1.5\r\n"
ERRORS = {
    "nothing": (b"", BAD + "(closed before headers)"),
    "another protocol": (b"GET / HTTP/1.0\r\n\r\n", BAD + "GET / HTTP/1.0"),
    "small letters": (b"check SPAMC/1.5\r\n\r\n", BAD + "check SPAMC/1.5"),
    "no version": (b"CHECK\r\n\r\n", BAD + "CHECK"),
    "odd version": (b"CHECK SPAMC/x\r\n\r\n", BAD + "CHECK SPAMC/x"),
    "for a terminal": (b"\x1b[2J\xff SPAMC/1.5\r\n\r\n", BAD + r"\x1b[2J\xff SPAMC/1.5"),
    "no colon": (CHECK + b"foo\r\n\r\n", BAD + "(header not in 'Name: value' format)"),
    "letters for a length": (
        CHECK + b"Content-length: 12a\r\n\r\n",
        BAD + "(Content-Length contains non-numeric bytes)",
    ),
    "negative length": (
        CHECK + b"Content-length: -1\r\n\r\n",
        BAD + "(Content-Length contains non-numeric bytes)",
    ),
    "other digits": (
        CHECK + "Content-length: ٣\r\n\r\nabc".encode(),
        BAD + "(Content-Length contains non-numeric bytes)",
    ),
    "too long a length": (
        CHECK + b"Content-length: 7\r\n\r\nabcd\n",
        BAD + "(Content-Length mismatch: Expected 7 bytes, got 5 bytes)",
    ),
    "too short a length": (
        CHECK + b"Content-length: 3\r\n\r\nabcd\nmore\n",
        BAD + "(Content-Length mismatch: Expected 3 bytes, got 5 bytes)",
    ),
    "ends in the headers": (CHECK + b"Content-length: 5\r\n", BAD + "(EOF during headers)"),
    "too many headers": (CHECK + b"A: b\r\n" * 300 + b"\r\n", BAD + "(too many headers)"),
    "an endless header": (CHECK + b"A: " + b"b" * 10_000, BAD + "(line too long)"),
    "an endless command": (b"b" * 10_000, BAD + "(line too long)"),
    "control characters": (CHECK + b"User: a\x01b\r\n\r\n", BAD + "(User header contains control chars)"),
    "unknown packing": (
        CHECK + b"Compress: gzip\r\nContent-length: 1\r\n\r\nx",
        BAD + "(compression type not supported: gzip)",
    ),
    "packed, and no length": (
        CHECK + b"Compress: zlib\r\n\r\n" + zlib.compress(b"x"),
        UNAVAILABLE + "Compress requires Content-length header",
    ),
    "packed and torn": (
        CHECK + b"Compress: zlib\r\nContent-length: 5\r\n\r\n" + zlib.compress(b"x" * 99)[:5],
        UNAVAILABLE + "zlib: failed to find end of zlib stream",
    ),
    "not packed": (
        CHECK + b"Compress: zlib\r\nContent-length: 5\r\n\r\nabcde",
        UNAVAILABLE + "zlib: Error -3 while decompressing data: incorrect header check",
    ),
    "teaching": (
        request("TELL", b"x", Message_class="spam", Set="local"),
        UNAVAILABLE + "TELL commands are not enabled, set the --allow-tell switch.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_spamd(server, name):
    asked, answer = ERRORS[name]
    assert server.ask(asked) == f"SPAMD/1.0 {answer}\r\n".encode()
    server.wait_for(answer.partition(" ")[2])  # and in the log, nothing raw
    assert server.log.replace("\n", "").isprintable()


def test_an_answer_does_not_wait_for_the_end_of_the_connection(server, mail):
    assert server.ask(request("CHECK", mail.messages["spam"]), end=False).startswith(STATUS)


def test_a_length_is_not_needed(server, mail):
    raw = mail.messages["spam"]
    whole = server.ask(request("CHECK", raw))
    assert server.ask(request("CHECK", raw, Content_length=None)) == whole
    assert server.ask(request("CHECK", raw) + b"\r\nmore") == whole  # what follows the last line is not read
    assert server.ask(request("CHECK", raw).replace(b"Content-length", b"content-LENGTH")) == whole


def test_packed_messages(server, mail):
    raw = mail.messages["spam"]
    packed = request("PROCESS", zlib.compress(raw), Compress="zlib")
    assert server.ask(packed) == server.ask(request("PROCESS", raw))


def test_a_message_may_come_in_pieces(server, mail):
    asked = request("PROCESS", mail.messages["spam"])
    with server.connect() as client:
        for place in range(0, len(asked), 7):
            client.sendall(asked[place : place + 7])
        assert client.recv(1 << 16) == server.ask(asked)


def test_models_with_other_labels(serving, three, mail):
    server = serving(model=three)
    assert b"Spam: True" in server.ask(request("CHECK", mail.messages["spam"]))
    assert b"Spam: False" in server.ask(request("CHECK", mail.messages["work"]))
    assert server.ask(request("SYMBOLS", mail.messages["work"])).endswith(b"\r\n\r\nSPAMNB_WORK")


@pytest.mark.parametrize("style", ["bogofilter", "spamassassin"])
def test_header_styles(serving, spamnb, mail, style):
    server = serving(header_style=style)
    for raw in mail.messages.values():
        passed = spamnb("classify", "-p", "--header-style", style, stdin=raw).succeeds().out
        assert server.ask(request("PROCESS", raw)).partition(b"\r\n\r\n")[2] == passed
