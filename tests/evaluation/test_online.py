"""Online: each message judged by what was learned before it, and by nothing else."""

from math import log

import numpy as np
import pytest

from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import MAX_FLOAT, verdict_of
from spamnb.bayes.view import View
from spamnb.core.native import CountTable, FeatureScorer
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.online import in_time_order, judge_online
from spamnb.evaluation.scores import row_scores
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.workers import LocalPool

WORDS = "money viagra meeting report agenda winner lottery python patch review thanks please".split()


@pytest.fixture
def corpus_of(tmp_path):
    """Reads messages {label: [text, …]} as the command line would."""

    def make(mail):
        for label, messages in mail.items():
            (tmp_path / label).mkdir()
            for number, text in enumerate(messages):
                (tmp_path / label / f"{number:04}").write_text(text)
        sources = {label: [str(tmp_path / label)] for label in mail}
        return Corpus.of(list(mail), LocalPool(1).batches(MailToRead(sources, Settings())), is_counted=False)

    return make


def some_mail(labels, each, seed=1):
    """Messages of any length; every label has its favourite words."""
    random = np.random.default_rng(seed)
    mail = {}
    for place, label in enumerate(labels):
        liking = 1 + 9 * (np.arange(len(WORDS)) % len(labels) == place)
        mail[label] = [
            f"Subject: {random.choice(WORDS)}\nDate: 1 Nov 2026 {random.integers(24)}:00\n\n"
            + " ".join(random.choice(WORDS, random.integers(12), p=liking / liking.sum()))
            + "!" * int(random.integers(5))
            for _ in range(each)
        ]
    return mail


def by_a_model(corpus, view, learned, message):
    """The verdict of a model trained on some messages."""
    table = CountTable(corpus.labels)
    table.add(corpus.rows, learned, corpus.truth[learned], 0)
    scorer = FeatureScorer(Likelihood(table, view), table)
    (score,) = row_scores(scorer, corpus.rows, np.array([message]))
    return verdict_of(score, None, None)


@pytest.mark.parametrize("view", [None, View(tfidf=True), View("bernoulli", 0.5), View("gaussian")])
def test_equal_to_training_on_the_messages_before(corpus_of, view):
    corpus = corpus_of(some_mail(("ham", "news", "spam"), 12))
    order = np.random.default_rng(2).permutation(len(corpus))
    judged, _ = judge_online(corpus, order, view=view)
    assert judged.names == [corpus.names[message] for message in order]
    for at in range(1, len(order)):
        expected = by_a_model(corpus, view or DEFAULT_VIEW, order[:at], order[at])
        assert judged.score[at] == pytest.approx(expected.score, rel=1e-9, abs=1e-9)
        if view:
            shares = [expected.probabilities[label] for label in corpus.labels]
            assert judged.probability[at] == pytest.approx(shares, rel=1e-9, abs=1e-9)


class TestByHand:
    """Multinomial with Laplace's smoothing; the labels are as likely as they were met.

    First nothing is known, so ham and spam are as likely. Then there is only spam.
    """

    @pytest.fixture
    def corpus(self, corpus_of):
        return corpus_of({"ham": ["meeting", "meeting money"], "spam": ["money", "money money"]})

    def test_scores(self, corpus):
        """The last: 2/3 · 1/5 · 4/5 for spam (3 times money), 1/3 · 2/3 · 1/3 for ham (once meeting)."""
        judged, points = judge_online(corpus, np.array([2, 0, 3, 1]), view=View())
        assert judged.score == pytest.approx([0, MAX_FLOAT, 2 * log(2), log(1.44)], rel=1e-12, abs=1e-12)
        verdicts = [(*judged.labels, "unsure")[place] for place in judged.verdict]
        assert verdicts == "unsure spam spam spam".split()
        assert judged.cutoffs is None
        assert [point.messages for point in points] == [1, 2, 3, 4]


class TestCutoffs:
    """Ham and spam that share no word, in turn: nothing is simpler once there are enough of each."""

    MAIL = {
        "ham": ["meeting agenda report lunch tuesday notes"] * 150,
        "spam": ["money winner lottery cheap pills now order from our shop and pay less than anybody asks"]
        * 150,
    }
    ORDER = [message for pair in zip(range(150), range(150, 300), strict=True) for message in pair]

    def test_unsure_until_there_are_enough(self, corpus_of):
        judged, points = judge_online(corpus_of(self.MAIL), np.array(self.ORDER))
        decided = judged.verdict >= 0
        assert not decided[:4].any()  # two of each
        assert decided[-20:].all()
        assert (judged.verdict == judged.truth)[decided].all()
        assert judged.cutoffs is not None
        assert judged.score[-2] <= judged.cutoffs[0] < 0 < judged.cutoffs[1] <= judged.score[-1]
        assert points[-1].recent_error_percent == pytest.approx(100 * (~decided[-200:]).sum() / 200)
        assert judged.probability.sum(axis=1) == pytest.approx(1)
        assert judged.probability[-1, 1] > 0.9 > 0.1 > judged.probability[-2, 1]


class TestTimeOrder:
    @pytest.mark.parametrize(
        ("ham", "spam", "order"),
        [
            (["3", "1"], ["4", "2"], "h1 s1 h0 s0"),
            (["3", "", "1"], ["2", "4"], "h2 s0 h0 h1 s1"),  # undated: behind the one before
            (["", "3"], ["2", "", "4"], "s0 s1 h0 h1 s2"),  # or before the first that has a date
            (["1", "2", "3", "4"], ["", "", ""], "h0 s0 h1 s1 h2 h3 s2"),  # spread over the time of others
            (["99", "2"], ["1", "3"], "s0 h0 h1 s1"),  # no such day: after none, so with the next
        ],
    )
    def test_order(self, corpus_of, ham, spam, order):
        def dated(days):
            return [f"Date: {day} Nov 2026 12:00:00 +0000\n\nx" if day else "Subject: x\n\nx" for day in days]

        corpus = corpus_of({"ham": dated(ham), "spam": dated(spam)})
        names = [f"h{n}" for n in range(len(ham))] + [f"s{n}" for n in range(len(spam))]
        assert " ".join(names[message] for message in in_time_order(corpus)) == order
