"""Every worked example of the lectures, by hand."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from helpers.textbook import features, grams_of, rows_of, table_of

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.gaussian import log_densities
from spamnb.bayes.verdict import posterior_of
from spamnb.bayes.view import GLOBAL, View, prior
from spamnb.core.native import MessageRows, fingerprints_of
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings

SIX = [
    ("spam", "send us your password"),
    ("ham", "send us your review"),
    ("ham", "review your password"),
    ("spam", "review us"),
    ("spam", "send your password"),
    ("spam", "send us your account"),
]


def words(text, **numbers):
    return features(Counter(text.split()), numbers)


def table(messages, labels=("ham", "spam")):
    return table_of([(label, words(text)) for label, text in messages], labels)


def judge(counts, text, **view):
    return Classifier(counts, View(**view)).score(words(text))


@pytest.fixture
def six():
    return table(SIX)


@pytest.fixture
def six_as_tabled():
    """The lecture's table counts `your` in one ham of two; both D2 and D3 have it. These are its counts."""
    return table(
        [(label, text if text != "review your password" else "review password") for label, text in SIX]
    )


class TestSixMessages:
    def test_priors(self, six):
        assert Classifier(six, View()).log_prior == [math.log(2 / 6), math.log(4 / 6)]

    @pytest.mark.parametrize(
        ("word", "ham", "spam"),
        [
            ("password", 1 / 2, 2 / 4),
            ("review", 2 / 2, 1 / 4),
            ("send", 1 / 2, 3 / 4),
            ("us", 1 / 2, 3 / 4),
            ("your", 1 / 2, 3 / 4),
            ("account", 0 / 2, 1 / 4),
        ],
    )
    def test_the_table(self, six_as_tabled, word, ham, spam):
        classifier = Classifier(six_as_tabled, View("bernoulli", 0))
        assert classifier.probabilities(rows_of(six_as_tabled, [word])[word]) == [ham, spam]

    def test_review_us_now(self, six_as_tabled):
        score = judge(six_as_tabled, "review us now", event="bernoulli", smoothing=0)
        ham, spam = 0.0625 * 2 / 6, (1 / 2 * 1 / 4 * 1 / 4 * 3 / 4 * 1 / 4 * 3 / 4) * 4 / 6
        assert [math.exp(j) for j in score.joint] == pytest.approx([ham, spam])
        assert score.posterior[0] == pytest.approx(0.877, abs=5e-4)
        assert score.best == "ham"

    def test_the_unknown_word_is_ignored(self, six_as_tabled):
        view = {"event": "bernoulli", "smoothing": 0}
        assert (
            judge(six_as_tabled, "review us now", **view).joint
            == judge(six_as_tabled, "review us", **view).joint
        )

    def test_as_printed_the_messages_rule_ham_out(self, six):
        """`your` stands in both ham, so a ham without it has probability zero: the zero-frequency problem."""
        score = judge(six, "review us now", event="bernoulli", smoothing=0)
        assert score.posterior == [0.0, 1.0]

    def test_smoothing_lets_it_in_again(self, six):
        score = judge(six, "review us now", event="bernoulli", smoothing=1)
        ham = Fraction(2, 6) * (1 - Fraction(2, 4)) * Fraction(3, 4) * (1 - Fraction(2, 4)) * Fraction(2, 4)
        ham *= (1 - Fraction(3, 4)) * (1 - Fraction(1, 4))
        spam = Fraction(4, 6) * (1 - Fraction(3, 6)) * Fraction(2, 6) * (1 - Fraction(4, 6)) * Fraction(4, 6)
        spam *= (1 - Fraction(4, 6)) * (1 - Fraction(2, 6))
        expected = [float(ham), float(spam)]
        assert [math.exp(j) for j in score.joint] == pytest.approx(expected)

    def test_any_mail_with_account_is_spam_without_smoothing(self, six):
        assert judge(six, "account", event="multinomial", smoothing=0).posterior == [0.0, 1.0]
        assert judge(six, "account", event="multinomial", smoothing=0.1).posterior[0] > 0


class TestSmoothing:
    def test_laplace_adds_one_and_the_vocabulary(self, six):
        """P(w|c) = (n_ck + 1) / (n_c + |V|)"""
        classifier = Classifier(six, View("multinomial", 1))
        assert classifier.probabilities(rows_of(six, ["account"])["account"]) == [1 / (7 + 6), 2 / (13 + 6)]

    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3])
    def test_bernoulli_adds_twice_epsilon(self, six, epsilon):
        """P(w|c) = (num(w, c) + ε) / (num(c) + 2ε)"""
        classifier = Classifier(six, View("bernoulli", epsilon))
        expected = [(0 + epsilon) / (2 + 2 * epsilon), (1 + epsilon) / (4 + 2 * epsilon)]
        assert classifier.probabilities(rows_of(six, ["account"])["account"]) == pytest.approx(expected)

    def test_bernoulli_laplace(self, six):
        """(1 + n) / (2 + N)"""
        classifier = Classifier(six, View("bernoulli", 1))
        assert classifier.probabilities(rows_of(six, ["review"])["review"]) == [3 / 4, 2 / 6]

    def test_global_statistics_in_place_of_epsilon(self, six):
        """num(w) / num: `account` stands in one message of six, in one word position of twenty."""
        row = rows_of(six, ["account"])["account"]
        assert Classifier(six, View("bernoulli", GLOBAL)).probabilities(row) == pytest.approx(
            [(0 + 1 / 6) / (2 + 2 / 6), (1 + 1 / 6) / (4 + 2 / 6)]
        )
        assert Classifier(six, View("multinomial", GLOBAL)).probabilities(row) == pytest.approx(
            [(0 + 1 / 20) / (7 + 1), (1 + 1 / 20) / (13 + 1)]
        )

    @pytest.mark.parametrize("smoothing", [0, 0.01, 1, 10, GLOBAL])
    @pytest.mark.parametrize("event", ["multinomial", "binary"])
    def test_the_smoothed_probabilities_of_a_label_add_up_to_one(self, six, event, smoothing):
        classifier = Classifier(six, View(event, smoothing))
        for label in range(2):
            rows = rows_of(six, {word for _, text in SIX for word in text.split()}).values()
            assert sum(classifier.probabilities(row)[label] for row in rows) == pytest.approx(1)


class TestLaptops:
    """`laptops with the lowest price`: each word its own factor, positions alike."""

    def test_the_product(self):
        counts = table(
            [
                ("ham", "the laptops with the screen"),
                ("ham", "with the price"),
                ("spam", "lowest price laptops lowest"),
                ("spam", "the lowest price"),
            ]
        )
        score = judge(counts, "laptops with the lowest price")
        size = 6  # laptops with the screen price lowest
        ham = math.prod(n / (8 + size) for n in (2, 3, 4, 1, 2)) / 2
        spam = math.prod(n / (7 + size) for n in (2, 1, 2, 4, 3)) / 2
        assert [math.exp(j) for j in score.joint] == pytest.approx([ham, spam])
        assert score.best == ("ham" if ham > spam else "spam")

    def test_word_order_does_not_matter(self, six):
        assert judge(six, "us review").joint == pytest.approx(judge(six, "review us").joint)

    def test_a_repeated_word_counts_again_in_the_multinomial_only(self, six):
        once, twice = judge(six, "review"), judge(six, "review review")
        assert twice.joint[0] - once.joint[0] == pytest.approx(math.log(3 / 13))
        for event in ("binary", "bernoulli"):
            assert judge(six, "review", event=event).joint == judge(six, "review review", event=event).joint


class TestNormalisation:
    def test_scaled_to_add_up_to_one(self):
        assert posterior_of([math.log(0.02), math.log(0.06)]) == pytest.approx([0.25, 0.75])

    def test_an_outlier_is_comparable(self):
        assert posterior_of([-1000.0, -1000.0 + math.log(3)]) == pytest.approx([0.25, 0.75])

    def test_zero_over_zero(self):
        assert posterior_of([-math.inf, -math.inf]) == [0.5, 0.5]

    def test_zero_frequency_in_both_labels(self):
        """A word seen in one label, and one seen in the other: neither label can be."""
        counts = table([("ham", "yes"), ("spam", "no")])
        assert judge(counts, "yes no", smoothing=0).joint == [-math.inf, -math.inf]


class TestAdultsAndChildren:
    """Four adults and twelve children by height and weight, here size and hour; from partial sums."""

    adults = [(170, 70), (180, 80), (160, 60), (175, 78)]
    children = [(100 + 3 * i, 18 + i) for i in range(12)]

    @pytest.fixture
    def counts(self):
        groups = (("a", self.adults), ("c", self.children))
        return table_of(
            [(label, words("", size=size, hour=hour)) for label, people in groups for size, hour in people],
            ("a", "c"),
        )

    def test_class_probabilities(self, counts):
        assert Classifier(counts, View("gaussian")).log_prior == pytest.approx(
            [math.log(0.25), math.log(0.75)]
        )

    def test_posterior(self, counts):
        def density(x, values):
            mean = sum(values) / len(values)
            variance = sum(v * v for v in values) / len(values) - mean**2
            return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

        likelihoods = []
        for share, people in ((0.25, self.adults), (0.75, self.children)):
            heights, weights = zip(*people, strict=True)
            likelihoods.append(share * density(140, heights) * density(45, weights))
        score = Classifier(counts, View("gaussian")).score(words("", size=140, hour=45))
        assert score.posterior == pytest.approx([x / sum(likelihoods) for x in likelihoods])

    def test_a_missing_value_is_left_out(self, counts):
        classifier = Classifier(counts, View("gaussian"))
        both = classifier.score(words("", size=165, hour=60)).joint
        height = classifier.score(words("", size=165)).joint
        weight = classifier.score(words("", hour=60)).joint
        prior = classifier.log_prior
        assert both == pytest.approx([h + w - p for h, w, p in zip(height, weight, prior, strict=True)])
        assert classifier.score(words("")).joint == prior

    def test_same_variance_gives_a_straight_boundary(self):
        values = [(label, x) for x in (9, 10, 11) for label, x in (("low", x), ("high", x + 10))]
        counts = table_of([(label, words("", size=x)) for label, x in values], ("low", "high"))
        classifier = Classifier(counts, View("gaussian"))
        odds = [classifier.score(words("", size=x)).of("high") for x in (10, 15, 20)]
        assert odds[1] == pytest.approx(0)
        assert odds[2] - odds[1] == pytest.approx(odds[1] - odds[0])

    def test_no_spread_at_all_says_nothing(self):
        assert log_densities(1, [[2, 10, 50], [1, 5, 25]]) is None

    def test_the_product_of_words_and_numbers(self):
        sizes = (("ham", 10), ("ham", 14), ("spam", 40), ("spam", 44))
        counts = table_of(
            [(label, words(text)) for label, text in SIX] + [(label, words("", size=x)) for label, x in sizes]
        )
        message = words("review us", size=12)
        words_only = Classifier(counts, View("bernoulli", 1)).score(message).joint
        numbers_only = Classifier(counts, View("gaussian")).score(message).joint
        prior = Classifier(counts, View()).log_prior
        product = Classifier(counts, View("bernoulli", 1, numbers=True)).score(message)
        assert product.joint == pytest.approx(
            [w + n - p for w, n, p in zip(words_only, numbers_only, prior, strict=True)]
        )


class TestMissingData:
    def test_three_coin_tosses(self):
        """P(head, ?, tail) = P(H,H,T) + P(H,T,T): what is unknown sums to one and drops out."""
        p = [0.6, 0.3, 0.8]
        with_heads = p[0] * p[1] * (1 - p[2])
        with_tails = p[0] * (1 - p[1]) * (1 - p[2])
        assert with_heads + with_tails == pytest.approx(p[0] * (1 - p[2]))


class TestIncrementalUpdates:
    def test_deletion_undoes_insertion(self, six):
        rows, message = MessageRows.of([words("send us send us money", size=7)]), np.zeros(1, np.int64)
        names = [*(word for _, text in SIX for word in text.split()), "money"]

        def seen():
            totals = six.messages, six.presences, six.occurrences, six.vocabulary, six.numbers
            return *totals, six.histogram(), rows_of(six, set(names))

        before = seen()
        six.add(rows, message, message, 0)
        assert six.messages == [3, 4]
        assert six.numbers == {"size": [[1, 7, 49], [0, 0, 0]]}
        six.add(rows, message, message, 0, -1)
        assert seen() == before


class TestLinearForm:
    """f(x) = (log π_1 − log π_0) + x · (log θ_1 − log θ_0), positive for the second label."""

    @pytest.mark.parametrize("event", ["multinomial", "binary", "bernoulli"])
    @pytest.mark.parametrize("text", ["review us now", "account", "send your password us", ""])
    def test_bias_and_weights_give_the_log_odds(self, six, event, text):
        classifier = Classifier(six, View(event, 1))
        rows = rows_of(six, text.split())
        linear = classifier.bias + sum(map(classifier.weight, rows.values()))
        score = classifier.score(words(text))
        assert linear == pytest.approx(score.joint[1] - score.joint[0])
        assert (linear > 0) == (score.best == "spam")

    def test_bias_and_weights_by_hand(self, six):
        """4 spam of 13 words, 2 ham of 7, 6 different; `review` is there 1 and 2 times, `us` 3 and 1."""
        classifier = Classifier(six, View("multinomial", 1))
        review, us = (classifier.weight(row) for row in rows_of(six, ["review", "us"]).values())
        assert classifier.bias == pytest.approx(math.log(4 / 2))
        assert review == pytest.approx(math.log(2 / 19) - math.log(3 / 13))
        assert us == pytest.approx(math.log(4 / 19) - math.log(2 / 13))
        score = classifier.score(words("review us us now"))
        assert score.of("spam") == pytest.approx(classifier.bias + review + 2 * us)

    @pytest.mark.parametrize("labels", [("spam", "ham"), ("one", "two")])
    def test_the_log_odds_are_those_of_spam_or_of_the_second_label(self, labels):
        classifier = Classifier(table([(labels[0], "pills"), (labels[1], "noon")], labels), View())
        row = rows_of(classifier.counts, ["pills"])
        (weight,) = map(classifier.weight, row.values())
        assert (weight > 0) == ("spam" in labels)

    def test_a_mean_is_not_linear(self, six):
        for view, counts in ((DEFAULT_VIEW, six), (View(), table(SIX, ("ham", "spam", "work")))):
            with pytest.raises(ValueError, match="linear"):
                _ = Classifier(counts, view).bias


class TestPriors:
    def test_uniform(self, six):
        assert Classifier(six, View(prior="uniform")).log_prior == [math.log(1 / 2)] * 2

    def test_given(self, six):
        chosen = Classifier(six, View(prior={"ham": 3, "spam": 1})).log_prior
        assert chosen == [math.log(3 / 4), math.log(1 / 4)]

    @pytest.mark.parametrize(
        ("messages", "ham", "work"), [((2, 4, 6), 0.7 / 4, 0.7 * 3 / 4), ((0, 4, 0), 0.35, 0.35)]
    )
    def test_labels_not_named_share_the_rest_by_their_messages(self, messages, ham, work):
        assert prior(("ham", "spam", "work"), messages, {"spam": 0.3}) == pytest.approx([ham, 0.3, work])


class TestMoreThanTwoLabels:
    def test_argmax_over_k(self):
        counts = table(
            [
                ("work", "meeting report"),
                ("family", "dinner photos"),
                ("spam", "cheap pills"),
                ("spam", "cheap"),
            ],
            labels=("work", "family", "spam"),
        )
        for text, label in (("report", "work"), ("photos dinner", "family"), ("cheap", "spam")):
            for event in ("multinomial", "binary", "bernoulli"):
                score = judge(counts, text, event=event)
                assert score.best == label
                assert sum(score.posterior) == pytest.approx(1)


class TestTfIdf:
    def test_term_frequency_times_inverse_document_frequency(self, six):
        """tf = 2/3; idf = the logarithm of 6 messages over the 3 containing `review`."""
        classifier = Classifier(six, View(tfidf=True))
        evidence = {item.feature: item for item in classifier.score(words("review us review")).evidence}
        review, us = fingerprints_of(["review", "us"])
        assert evidence[review].times == pytest.approx(2 / 3 * math.log(6 / 3))
        assert evidence[us].times == pytest.approx(1 / 3 * math.log(6 / 4))

    def test_a_word_in_every_message_weighs_nothing(self):
        counts = table([("ham", "the cat"), ("spam", "the pill")])
        assert judge(counts, "the", tfidf=True).joint == Classifier(counts, View()).log_prior


class TestInputSpaces:
    def test_n_grams(self):
        cut = Settings(ngrams=3).words()
        assert grams_of(cut, "send us your password") == [
            *("send", "us", "your", "password"),
            *("send us", "us your", "your password"),
            *("send us your", "us your password"),
        ]

    def test_stemming_maps_all_forms_of_retrieve_to_one(self):
        cut = Settings(stem="english").words()
        assert set(cut.of("retrieve retrieving retrieval retrieved retrieves")) == {"retriev"}

    def test_stop_words(self):
        cut = Settings(stop_language="english").words()
        assert cut.of("the cat and the hat") == ["cat", "hat"]
