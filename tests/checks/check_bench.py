"""What the benches take from the package is there, and mail that they make is what they say."""

from importlib import import_module

import pytest
from helpers.paths import ROOT

from spamnb.core.letter_tables import CHARSETS, LETTERS
from spamnb.core.native import read


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    return import_module


def test_mail_is_turned_into_other_languages_with_and_without_lies(bench):
    lies = bench("lies")
    text = "Many ordinary words of a message stand here, and some more of them follow on each line.\n" * 9
    raw = f"Subject: ordinary words\nContent-Type: text/plain; charset=us-ascii\n\n{text}".encode()
    for language, charsets in lies.CHARSETS.items():
        true = read(lies.turned(raw, language))
        assert true.leaves[0].charset in charsets
        for lie in lies.LIES:
            (said,) = read(lies.turned(raw, language, lie)).leaves
            assert (said.text or "").split() == (true.leaves[0].text or "").split()


def test_letter_tables_know_all_charsets_that_are_guessed_and_their_languages(bench):
    made = bench("letter_tables").upper_halves({name: own for name, (own, _) in LETTERS.items()})
    assert made == CHARSETS


def test_every_rule_can_be_switched_off(bench):
    for change in bench("rules").CHANGES.values():
        while change:
            changed = change.changed((ROOT / "spamnb" / change.module).read_text())
            if change.module.endswith(".py"):
                compile(changed, change.module, "exec")
            change = change.other
