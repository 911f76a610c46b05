"""Two tables as one: the score on top of a base is that of the sum."""

from itertools import pairwise

import pytest
from helpers.textbook import features, table_of

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.layers import LayeredTotals, layers_of
from spamnb.core.native import CountSum
from spamnb.model import DEFAULT_VIEW

OWN = [("ham", ["noon", "room", "list"]), ("ham", ["noon", "list"]), ("spam", ["pills", "now"])]
BASE = [("ham", ["noon", "agenda"]), ("spam", ["pills", "win"]), ("spam", ["win", "now", "noon"])]
WORDS = ["noon", "room", "list", "pills", "now", "win", "agenda", "unknown"]


def message(words):
    return features(dict.fromkeys(words, 1), None, pairwise(words), [WORDS.index(word) for word in words])


def table(*mail):
    return table_of([(label, message(words)) for label, words in mail])


def test_the_sum_of_two_tables():
    own, base = table(*OWN), table(*BASE)
    summed, layered = table(*OWN, *BASE), LayeredTotals(own, base)
    for name in ("messages", "presences", "occurrences", "pair_presences"):
        assert getattr(layered, name) == getattr(summed, name)
    asked, counts = message(WORDS), CountSum(own, base)
    keys = [token[0] for token in asked.tokens] + [pair[0] for pair in asked.pairs]
    assert counts.lookup(keys) == summed.lookup(keys)
    assert counts.lookup_grams(asked.grams) == summed.lookup_grams(asked.grams)
    layered.vocabulary, layered.pair_vocabulary = summed.vocabulary, summed.pair_vocabulary  # which is no sum
    score = Classifier(layered, DEFAULT_VIEW, counts=counts).score(asked)
    assert score.joint == Classifier(summed, DEFAULT_VIEW).score(asked).joint


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
