"""The server and the lists of senders: obeyed, said so, and read anew when they change."""

import time

import pytest
from helpers.serving import request

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

    def until(wanted):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            answer = server.ask(asked)
            if wanted(answer):
                return answer
        raise AssertionError(answer)

    told = server.ask(asked)
    assert b"Spam: True ; 5.0 / 5.0" in told
    assert b"X-Spam-Told: spam; " in told
    assert b"; blocked=example.org\n" in told
    assert b"\nSubject: [spam] meeting notes 99\n" in told
    assert b"the list of senders decided: blocked=example.org" in server.ask(
        request("REPORT", mail.messages["ham"])
    )
    assert "blocked=example.org" in server.wait_for("asked=PROCESS")
    block.write_text("two words\n")
    assert b"blocked=example.org" in until(lambda _: "no address or domain" in server.log)  # as it was
    block.write_text("\n")
    assert b"X-Spam-Told: ham; " in until(lambda answer: b"blocked" not in answer)
