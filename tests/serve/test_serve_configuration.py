"""The server and the lists of senders: obeyed, said so, and read anew when they change."""

import os

import pytest
from helpers.serving import request
from helpers.waiting import until

pytestmark = pytest.mark.slow


def test_a_list_that_changes_is_noticed(serving, mail, tmp_path):
    folder = tmp_path / "spamnb"
    folder.mkdir()
    block = folder / "block.txt"
    block.write_text("example.org\n")
    server = serving(
        env={"XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        header="X-Spam-Told",
        subject_tag="[spam]",
        workers=1,
    )
    asked = request("PROCESS", mail.messages["ham"])

    def write(text):
        """All at once: the server may look at any moment."""
        (folder / "new").write_text(text)
        os.replace(folder / "new", block)

    told = server.ask(asked)
    assert b"Spam: True ; 5.0 / 5.0" in told
    assert b"X-Spam-Told: spam; " in told
    assert b"; blocked=example.org\n" in told
    assert b"\nSubject: [spam] meeting notes 99\n" in told
    report = server.ask(request("REPORT", mail.messages["ham"]))
    assert b"the list of senders decided: blocked=example.org" in report
    assert "blocked=example.org" in server.wait_for("asked=PROCESS")
    write("two words\n")
    until(lambda: server.ask(asked) and "not an address or domain" in server.log)
    assert b"blocked=example.org" in server.ask(asked)  # as it was
    write("\n")
    until(lambda: b"X-Spam-Told: ham; " in server.ask(asked))
