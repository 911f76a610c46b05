"""A program that takes long says on a terminal what it does, as long as nothing else is said."""

import threading

from helpers.waiting import PATIENCE

from spamnb.cli.shared import progress


def test_what_takes_long_is_told(monkeypatch):
    output, heard = [], threading.Event()

    def write(text):
        output.append(text)
        heard.set()

    monkeypatch.setattr(progress, "SILENCE", 0.1)
    monkeypatch.setattr(progress, "is_shown", lambda: True)
    monkeypatch.setattr(progress, "write_stderr", write)
    with progress.never_silent(lambda: "home: still busy"):
        assert heard.wait(PATIENCE)
    assert output[0] == "home: still busy …\n"


def test_nothing_is_told_elsewhere(monkeypatch, capfd):
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    before = threading.active_count()
    with progress.never_silent(lambda: "busy"):
        assert threading.active_count() == before
    assert capfd.readouterr() == ("", "")
