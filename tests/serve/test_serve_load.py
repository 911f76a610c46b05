"""Random clients of every kind, many at once, hurt neither the server nor a good client among them."""

from helpers.load import Load
from helpers.samples import ham, spam
from helpers.waiting import PATIENCE

MANY = 300


def test_a_good_client_is_answered_among_all_others(serving, own):
    load = Load(serving, own, [ham(98), spam(98), spam(97) * 20])
    outcome = load.run(PATIENCE, seed=1, most=MANY)
    load.assert_unhurt()
    assert outcome.refused == []
    assert outcome.latencies
