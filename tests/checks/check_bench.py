"""What the benches take from the package is there."""

from importlib import import_module

import pytest
from helpers.paths import ROOT

from spamnb.core.letter_tables import CHARSETS, LETTERS


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    return import_module


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


def test_charsets_are_told_apart(bench):
    charsets = bench("charsets")
    pieces = [*charsets.pieces("koi8-r", charsets.languages.prose()["ru"], 400, charsets.random.Random(1))]
    assert charsets.share_read(charsets.spamnb, [(each.text, each.data) for each in pieces]) > 0.9
