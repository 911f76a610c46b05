"""`classify -0`: names on standard input; `syslog = true`: a line for each verdict."""

import os
import socket

import pytest
from helpers.waiting import PATIENCE


def test_names_are_judged_as_paths_are(spamnb, mail, tmp_path):
    lines = tmp_path / "two\nlines"
    lines.write_bytes(mail.messages["spam"])
    names = [f"{mail.spam}/03", f"{mail.ham}/03", mail.ham, str(lines)]
    ended = "".join(f"{name}\0" for name in names).encode()
    assert spamnb("classify", "-0", stdin=ended).succeeds() == spamnb("classify", *names)
    assert spamnb("classify", "-0", "--json", stdin=ended) == spamnb("classify", "--json", *names)
    assert spamnb("classify", "-0").succeeds().out == b""


def test_a_name_that_leads_nowhere_does_not_stop_the_others(spamnb, mail, tmp_path):
    odd = os.fsencode(tmp_path / "na\udcffme")
    with open(odd, "wb") as file:
        file.write(mail.messages["ham"])
    done = spamnb("classify", "-0", stdin=b"/absent\0%s\0%s/03\0" % (odd, mail.spam.encode()))
    assert (done.code, [line.split("\t")[0] for line in done.lines]) == (66, ["ham", "spam"])
    assert done.err == b"spamnb: /absent: no such file or folder\n"
    spamnb("classify", "-0", mail.ham).fails(64, "-0 cannot be combined with")
    spamnb("classify", "-0", "-p").fails(64, "-0")


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


@pytest.fixture
def logging(spamnb, tmp_path):
    """An environment in which each verdict is to be logged."""
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "spamnb.toml").write_text("syslog = true\n")
    return spamnb.environment | {"XDG_CONFIG_HOME": str(tmp_path)}


@pytest.mark.slow
def test_a_line_a_verdict_in_the_system_s_log(spamnb, mail, logging, system_log):
    raw = b"Message-ID: <one two\x1b@example.org>\n" + mail.messages["spam"]
    out = spamnb.afresh("classify", stdin=raw, env=logging).succeeds().out
    assert out == spamnb.afresh("classify", stdin=raw).out
    line = system_log.recv(4096).decode()
    assert line.startswith("<22>")  # facility mail, information
    score = out.decode().split("\t")[1]
    assert f"]: spam score={score} size={len(raw)} id=<one\\x20two\\x1b@example.org>" in line
    assert "pills" not in line


def test_without_a_system_log_mail_is_judged(spamnb, mail, logging):
    raw = mail.messages["spam"]
    assert spamnb("classify", stdin=raw, env=logging).succeeds() == spamnb("classify", stdin=raw)
