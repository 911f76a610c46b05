"""`spamnb serve` speaks spamd's protocol, and says what `spamnb classify` says."""

import zlib

import pytest
from helpers.serving import request

from spamnb.model import Model

# The shapes are those of spamd 4.0.1, taken from the wire; test_serve_oracle.py asks the program itself.
STATUS = b"SPAMD/1.1 0 EX_OK\r\n"
COMMANDS = ["CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"]


@pytest.fixture(scope="module")
def model(spamnb):
    return Model.open(spamnb.model)


def score(verdict):
    return f"Spam: {verdict.label == 'spam'} ; {verdict.points:.1f} / 5.0\r\n".encode()


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_the_verdict_in_every_form(server, spamnb, mail, model, label):
    raw, symbol = mail.messages[label], f"SPAMNB_{label.upper()}".encode()
    verdict = model.classify(raw)
    assert verdict.label == label
    assert (verdict.points >= 5.0) == (label == "spam")
    passed = spamnb("classify", "-p", stdin=raw).succeeds().out
    head = passed.partition(b"\n\n")[0] + b"\n\n"
    assert server.ask(request("CHECK", raw)) == STATUS + score(verdict) + b"\r\n"
    for command, text in (("PROCESS", passed), ("HEADERS", head), ("SYMBOLS", symbol)):
        length = b"Content-length: %d\r\n" % len(text)
        assert server.ask(request(command, raw)) == STATUS + length + score(verdict) + b"\r\n" + text


@pytest.mark.parametrize("command", COMMANDS)
def test_old_clients_get_what_they_understand(server, mail, command):
    raw = mail.messages["spam"]
    newest = server.ask(request(command, raw))
    head, _, body = newest.partition(b"\r\n\r\n")
    assert server.ask(request(command, raw, "1.3")) == newest
    for version in ("1.0", "1.1", "1.2"):
        oldest = f"{command} SPAMC/1.0\r\n".encode() + raw
        said = server.ask(oldest if version == "1.0" else request(command, raw, version))
        if command in ("PROCESS", "HEADERS"):
            length = b"Content-length: %d\r\n\r\n" % len(body)
            assert said == (STATUS + length if version == "1.2" else b"SPAMD/1.0 0 EX_OK\r\n") + body
        else:
            lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-length")]
            end = b"\r\n" if command == "SYMBOLS" else b""
            assert said == b"\r\n".join(lines) + b"\r\n\r\n" + body + end


@pytest.mark.parametrize("end", [b"1.2\r\n", b"1.5\r\n\r\n"])
@pytest.mark.parametrize(("command", "answer"), [(b"PING", b"SPAMD/1.5 0 PONG\r\n"), (b"SKIP", b"")])
def test_ping_and_skip(server, command, answer, end):
    assert server.ask(command + b" SPAMC/" + end, end=False) == answer


BAD = "76 Bad header line: "
UNAVAILABLE = "69 Service Unavailable: "
NO_NUMBER = BAD + "(Content-Length contains non-numeric bytes)"
MISMATCH = BAD + "(Content-Length mismatch: Expected {} bytes, got 5 bytes)"
CHECK = b"CHECK SPAMC/1.5\r\n"
PACKED = CHECK + b"Compress: zlib\r\nContent-length: 5\r\n\r\n"
ERRORS = {
    "nothing": (b"", BAD + "(closed before headers)"),
    "another protocol": (b"GET / HTTP/1.0\r\n\r\n", BAD + "GET / HTTP/1.0"),
    "small letters": (b"check SPAMC/1.5\r\n\r\n", BAD + "check SPAMC/1.5"),
    "no version": (b"CHECK\r\n\r\n", BAD + "CHECK"),
    "odd version": (b"CHECK SPAMC/x\r\n\r\n", BAD + "CHECK SPAMC/x"),
    "for a terminal": (b"\x1b[2J\xff SPAMC/1.5\r\n\r\n", BAD + r"\x1b[2J\xff SPAMC/1.5"),
    "no colon": (CHECK + b"foo\r\n\r\n", BAD + "(header not in 'Name: value' format)"),
    "letters for a length": (CHECK + b"Content-length: 12a\r\n\r\n", NO_NUMBER),
    "negative length": (CHECK + b"Content-length: -1\r\n\r\n", NO_NUMBER),
    "other digits": (CHECK + "Content-length: ٣\r\n\r\nabc".encode(), NO_NUMBER),
    "too long a length": (CHECK + b"Content-length: 7\r\n\r\nabcd\n", MISMATCH.format(7)),
    "too short a length": (CHECK + b"Content-length: 3\r\n\r\nabcd\nmore\n", MISMATCH.format(3)),
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
        PACKED + zlib.compress(b"x" * 99)[:5],
        UNAVAILABLE + "zlib: failed to find end of zlib stream",
    ),
    "not packed": (
        PACKED + b"abcde",
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
    server.wait_for(answer.partition(": ")[2])  # and in the log, nothing raw
    assert server.log.replace("\n", "").isprintable()


def test_other_ways_to_ask_the_same(server, mail):
    raw = mail.messages["spam"]
    whole = server.ask(request("CHECK", raw))
    assert server.ask(request("CHECK", raw), end=False) == whole
    assert server.ask(request("CHECK", raw, Content_length=None)) == whole
    assert server.ask(request("CHECK", raw) + b"\r\nmore") == whole  # what follows the last line is not read
    assert server.ask(request("CHECK", raw).replace(b"Content-length", b"content-LENGTH")) == whole
    assert server.ask(request("CHECK", zlib.compress(raw), Compress="zlib")) == whole


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
