"""Two tables as one: the score on top of a base is that of the sum, whose own part counts several times."""

from __future__ import annotations

import pytest
from helpers.interpreted import interpreted
from helpers.simple_table import SimpleTable

from spamnb.bayes import layers
from spamnb.bayes.classifier import Classifier
from spamnb.bayes.layers import LayeredCounts, unit_of
from spamnb.bayes.view import View
from spamnb.model import DEFAULT_VIEW

OWN = [("ham", ["noon", "room", "list"]), ("ham", ["noon", "list"]), ("spam", ["pills", "now"])]
BASE = [("ham", ["noon", "agenda"]), ("spam", ["pills", "win"]), ("spam", ["win", "now", "noon"])]
WORDS = ["noon", "room", "list", "pills", "now", "win", "agenda", "unknown"]
NUMBERS = {word: number for number, word in enumerate(WORDS, 1)}


def table(*mail: tuple[str, list[str]]) -> SimpleTable:
    learned = SimpleTable(("ham", "spam"))
    for label, words in mail:
        numbers = [NUMBERS[word] for word in words]
        pairs = [(100 + number, 0) for number in numbers]
        learned.learn(label, [(number, 1, 0) for number in numbers], pairs=pairs, grams=numbers)
    return learned


@pytest.mark.parametrize("unit", [1, 2, 7])
def test_the_sum_of_two_tables(unit):
    own, base = table(*OWN), table(*BASE)
    summed = table(*OWN * unit, *BASE)
    layered = LayeredCounts(own, base, unit)
    assert layered.messages == summed.messages
    assert layered.presences == summed.presences
    assert layered.occurrences == summed.occurrences
    assert layered.pair_presences == summed.pair_presences
    tokens = [(number, 1, number % 2) for number in NUMBERS.values()]
    asked = [number for number, _, _ in tokens]
    assert layered.rows(asked) == summed.rows(asked)
    pairs = [(100 + number, 0) for number in asked]
    assert layered.pair_rows([pair for pair, _ in pairs]) == summed.pair_rows([pair for pair, _ in pairs])
    # Smoothing is of messages, of which each is `unit` units; the vocabulary is no sum.
    view = View(**DEFAULT_VIEW.as_map() | {"smoothing": unit * 0.01})
    likelihood, expected = Classifier(layered, DEFAULT_VIEW, unit=unit), Classifier(summed, view)
    for each in (likelihood, expected):
        each.set_denominators(each.label_totals, 10)
    scores = [each.score(tokens, {}, pairs, asked).joint for each in (likelihood, expected)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)


def test_both_forms_agree():
    plain = interpreted("spamnb.bayes.layers")
    rows = {1: (1, 2), 2: (0, plain.LARGEST_COUNT), 3: (1 << 62, 5)}
    for unit in (1, 3, plain.LARGEST_UNIT):
        assert layers.added_rows(dict(rows), {2: (4, 5), 9: (6, 7)}, unit) == plain.added_rows(
            dict(rows), {2: (4, 5), 9: (6, 7)}, unit
        )


@pytest.mark.parametrize(
    ("messages", "weight", "unit"),
    [(0, 10, 1), (5, 10, 1), (10, 10, 1), (11, 10, 2), (6000, 300, 20), (10**12, 10, 1 << 16), (9, 0, 9)],
)
def test_how_many_messages_count_as_one(messages, weight, unit):
    assert unit_of(messages, weight) == unit
