"""The mail that `make bench` makes: it is the same each time, and grows as real mail does."""

from importlib import import_module

from helpers.paths import ROOT


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
