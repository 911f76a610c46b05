"""`classify -b`: names on standard input, as bogofilter takes them; `--syslog`: a line a verdict."""

import os
import socket

import pytest
from helpers.waiting import PATIENCE


def test_names_are_judged_as_paths_are(spamnb, mail):
    names = [f"{mail.spam}/03", f"{mail.ham}/03", mail.ham]
    lines = "\n".join([names[0], "", *names[1:]]).encode()
    assert spamnb("classify", "-b", stdin=lines).succeeds() == spamnb("classify", *names)
    assert spamnb("classify", "-b", "--json", stdin=lines) == spamnb("classify", "--json", *names)
    assert spamnb("classify", "-b").succeeds().out == b""
    ended = lines.replace(b"\n", b"\0") + b"\0"
    assert spamnb("classify", "-0", stdin=ended).succeeds() == spamnb("classify", *names)
    assert spamnb("classify", "-b", "-0", stdin=ended).succeeds() == spamnb("classify", *names)
    spamnb("classify", "-b", stdin=ended).fails(64, "a NUL in it", "-0")


def test_a_name_of_several_lines(spamnb, mail, tmp_path):
    path = tmp_path / "two\nlines"
    path.write_bytes(mail.messages["spam"])
    assert spamnb("classify", "-0", stdin=bytes(path)).succeeds().lines[0].startswith("spam")


def test_a_name_that_leads_nowhere_does_not_stop_the_others(spamnb, mail, tmp_path):
    odd = os.fsencode(tmp_path / "na\udcffme")
    with open(odd, "wb") as file:
        file.write(mail.messages["ham"])
    done = spamnb("classify", "-b", stdin=b"/absent\n%s\n%s/03\n" % (odd, mail.spam.encode()))
    assert (done.code, [line.split("\t")[0] for line in done.lines]) == (66, ["ham", "spam"])
    assert done.err == b"spamnb: /absent: no such file or folder\n"
    spamnb("classify", "-b", mail.ham).fails(64, "-b and -0 cannot be combined with")
    spamnb("classify", "-b", "-p").fails(64, "-b")


@pytest.fixture
def system_log():
    """What listens where programs send lines for the system's log."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.settimeout(PATIENCE)
        try:
            listener.bind("/dev/log")
        except OSError as error:
            pytest.skip(f"/dev/log: {error.strerror}")
        try:
            yield listener
        finally:
            os.unlink("/dev/log")


@pytest.mark.slow
def test_a_line_a_verdict_in_the_system_s_log(spamnb, mail, system_log):
    raw = b"Message-ID: <one two\x1b@example.org>\n" + mail.messages["spam"]
    out = spamnb.afresh("classify", "--syslog", stdin=raw).succeeds().out
    assert out == spamnb.afresh("classify", stdin=raw).out
    line = system_log.recv(4096).decode()
    assert line.startswith("<22>")  # facility mail, information
    score = out.decode().split("\t")[1]
    assert f"]: spam score={score} size={len(raw)} id=<one\\x20two\\x1b@example.org>" in line
    assert "pills" not in line


def test_without_a_system_log_mail_is_judged(spamnb, mail):
    raw = mail.messages["spam"]
    assert spamnb("classify", "--syslog", stdin=raw).succeeds() == spamnb("classify", stdin=raw)
