"""What the benches make and use: mail that is the same each time, switches of rules, results."""

import os
import signal
from importlib import import_module

import pytest
from helpers.paths import ROOT

from spamnb.reading.encodings.letter_tables import CHARSETS, LETTERS
from spamnb.reading.message import read


def test_a_grown_corpus_keeps_the_real_mail_and_has_no_message_twice(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    corpora = import_module("corpora")
    text = b"".join(b"some ordinary words of message number %d stand here, and more\n" % n for n in range(9))
    small = corpora.Corpus("small", [b"Subject: ham\n\n" + text] * 2, [b"Subject: spam\n\n" + text])
    grown = small.grown(30)
    assert [len(grown.ham), len(grown.spam)] == [20, 10]
    assert grown.ham[:2] == small.ham
    copies = grown.ham[2:] + grown.spam[1:]
    assert len(set(copies)) == len(copies)
    for copy in copies:
        head, _, body = copy.partition(b"\n\n")
        assert head.startswith(b"X-Copy: ")
        assert head.endswith((b"Subject: ham", b"Subject: spam"))
        assert len(body) == len(text)
        assert set(body.split()) - set(text.split())
    assert grown == small.grown(30)


def test_mail_is_turned_into_other_languages_with_and_without_lies(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    lies = import_module("lies")
    text = "Many ordinary words of a message stand here, and some more of them follow on each line.\n" * 9
    raw = f"Subject: ordinary words\nContent-Type: text/plain; charset=us-ascii\n\n{text}".encode()
    for language, charsets in lies.CHARSETS.items():
        true = read(lies.turned(raw, language))
        words = (true.leaves[0].text or "").split()
        assert true.leaves[0].charset in charsets
        assert not any(word.isascii() for word in words)
        for lie in lies.LIES:
            told = read(lies.turned(raw, language, lie))
            (leaf,) = told.leaves
            assert leaf.charset == ""
            assert leaf.decoding is not None
            assert leaf.decoding.why_encoding
            assert (leaf.text or "").split() == words
            assert told.get("subject") == true.get("subject")


def test_letter_tables_know_all_charsets_that_are_guessed_and_their_languages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    made = import_module("letter_tables").upper_halves({name: own for name, (own, _) in LETTERS.items()})
    assert made == CHARSETS


def test_every_rule_can_be_switched_off(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    rules = import_module("rules")
    for rule, change in rules.CHANGES.items():
        source = (ROOT / "spamnb" / change.module).read_text()
        assert source.count(change.text) == 1, rule
        compile(source.replace(change.text, change.without), change.module, "exec")


@pytest.mark.slow
def test_verify_goes_on_after_a_kill_and_tells_what_is_not_proven(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "bench")
    verify = import_module("verify")
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    steps = [
        verify.Step(
            "first", "runs once", tells="passed", command="echo x >> ran; echo 3 passed; echo the end"
        ),
        verify.Step("second", "is killed", command="test -e killed || { touch killed; kill -9 $PPID; }"),
        verify.Step("third", "fails", command="echo '<b>why</b>'; exit 7"),
        verify.Step("fourth", "lacks a program", ["no-such-program"]),
        verify.Step("fifth", "says so itself", void="nothing was", command="echo nothing was done"),
    ]
    commit = "a"
    results = verify.Results(tmp_path, steps, lambda _: (commit, True))

    child = os.fork()
    if not child:
        os._exit(verify.verify(results, steps))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(results.outcomes()) == ["first"]
    assert verify.verify(results, steps) == 1
    assert "2 of 5 passed" in capsys.readouterr().out
    assert {name: (one.result, one.code, one.told) for name, one in results.outcomes().items()} == {
        "first": ("passed", 0, ["3 passed"]),
        "second": ("passed", 0, ["nothing was said"]),
        "third": ("failed", 7, ["<b>why</b>"]),
        "fourth": ("not run", None, ["needs no-such-program"]),
        "fifth": ("void", 0, ["nothing was done"]),
    }
    assert (tmp_path / "ran").read_text() == "x\n"
    page = results.page.read_text()
    assert "2 of 5 steps passed on commit a" in page
    assert "&lt;b&gt;why" in page
    commit = "b"
    verify.verify(results, steps)
    assert (tmp_path / "ran").read_text() == "x\nx\n"
