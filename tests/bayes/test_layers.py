"""Two tables as one: the score on top of a base is that of the sum."""

from __future__ import annotations

import pytest
from helpers.simple_table import SimpleTable

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.layers import LayeredCounts, layers_of
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


def test_the_sum_of_two_tables():
    own, base = table(*OWN), table(*BASE)
    summed, layered = table(*OWN, *BASE), LayeredCounts(own, base)
    assert layered.messages == summed.messages
    assert layered.presences == summed.presences
    assert layered.occurrences == summed.occurrences
    assert layered.pair_presences == summed.pair_presences
    tokens = [(number, 1, number % 2) for number in NUMBERS.values()]
    asked = [number for number, _, _ in tokens]
    assert layered.rows(asked) == summed.rows(asked)
    pairs = [(100 + number, 0) for number in asked]
    assert layered.pair_rows([pair for pair, _ in pairs]) == summed.pair_rows([pair for pair, _ in pairs])
    layered.vocabulary, layered.pair_vocabulary = summed.vocabulary, summed.pair_vocabulary  # which is no sum
    score, expected = (
        Classifier(counts, DEFAULT_VIEW).score(tokens, {}, pairs, asked) for counts in (layered, summed)
    )
    assert score.joint == expected.joint


@pytest.mark.parametrize(
    ("own", "base", "judges"),
    [
        (11, 1000, (False, True)),
        (12, 1000, (True, True)),
        (999, 1000, (True, True)),
        (1000, 1000, (True, False)),
        (0, 0, (True, False)),
    ],
)
def test_who_judges(own, base, judges):
    """The base, both, or the model alone: by the messages of the label that has fewest."""
    assert layers_of(own, base) == judges
