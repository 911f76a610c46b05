"""The server and its configuration: obeyed, said so, and read again when it changes."""

import os
import signal

import pytest
from helpers.programs import needs
from helpers.serving import configured, request
from helpers.waiting import until

pytestmark = pytest.mark.slow


def test_a_list_that_changes_is_noticed(serving, mail, tmp_path):
    folder = tmp_path / "spamnb"
    folder.mkdir()
    block = folder / "block.txt"
    block.write_text("example.org\n")
    server = serving(env=configured(tmp_path, 'header = "X-Spam-Told"\nsubject_tag = "[spam]"\n'))
    asked = request("PROCESS", mail.messages["ham"])

    def write(text):
        """All at once: the server may look at any moment."""
        (folder / "new").write_text(text)
        os.replace(folder / "new", block)

    output = server.ask(asked)
    assert b"Spam: True ; 5.0 / 5.0" in output
    assert b"X-Spam-Told: spam; " in output
    assert b"; blocked=example.org\n" in output
    assert b"\nSubject: [spam] meeting notes 99\n" in output
    report = server.ask(request("REPORT", mail.messages["ham"]))
    assert b"its sender decided: blocked=example.org" in report
    assert "blocked=example.org" in server.wait_for("asked=PROCESS")
    write("two words\n")
    until(lambda: server.ask(asked) and "not an address or domain" in server.log)
    assert b"blocked=example.org" in server.ask(asked)  # as it was
    write("\n")
    until(lambda: b"X-Spam-Told: ham; " in server.ask(asked))


@needs("spamc")
def test_reasons_are_given_if_configured(serving, spamnb, mail, tmp_path):
    """The same as by `classify -p`, to every client that takes a header."""
    env = configured(tmp_path, f'model = "{spamnb.model}"\nreasons = true\n')
    server, raw = serving(env=env), mail.messages["spam"]
    passed_on = spamnb("classify", "-p", stdin=raw, env=env).out
    assert b"\nX-Spamnb-Reason: " in passed_on
    assert server.spamc(stdin=raw) == (0, passed_on)


def test_a_changed_configuration_is_applied(serving, spamnb, mail, tmp_path):
    """Header, tag and history at once; of another model it is said that a restart is needed."""
    file = tmp_path / "spamnb" / "spamnb.toml"
    env = configured(tmp_path, f'model = "{spamnb.model}"\n') | {"XDG_STATE_HOME": str(tmp_path / "state")}
    server = serving(env=env)
    asked = request("PROCESS", mail.messages["spam"])
    assert b"X-Spamnb: spam; " in server.ask(asked)
    file.write_text('model = "other"\nheader_style = "bogofilter"\nsubject_tag = "[spam]"\nhistory = true\n')
    server.process.send_signal(signal.SIGHUP)
    until(lambda: b"X-Bogosity: Spam, " in server.ask(asked))
    assert b"\nSubject: [spam] cheap pills 99\n" in server.ask(asked)
    assert (tmp_path / "state" / "spamnb" / "history").is_dir()
    server.wait_for("another model is configured; restart the server to use it")
