"""One message, many, left out, online: the same score to the last bit, by every view of any counts."""

import pickle

import numpy as np
from helpers.generated import examples_times
from helpers.simple_table import SimpleTable
from hypothesis import given
from hypothesis import strategies as st

from spamnb.bayes.classifier import Classifier, Scorers
from spamnb.bayes.likelihood import NONE_MISFILED, Likelihood
from spamnb.bayes.verdict import Score
from spamnb.bayes.view import GLOBAL, View
from spamnb.core.native import (
    COUNTERS,
    CountSum,
    CountTable,
    FeatureScorer,
    FeatureSet,
    MessageRows,
    Scorer,
    Tokenizer,
    part_of,
    read,
)
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings

WORDS, PAIRS = range(12), range(12, 18)  # fingerprints
LABELS = ("ham", "spam"), ("ham", "news", "spam"), ("spam", "ham", "home", "news", "work")
SMOOTHINGS = (0.0, 1e-300, 0.01, 0.3, 1.0, GLOBAL)
PAIR = 2  # added to the part that a pair is in
MANY = 200  # messages from which on all grams are weighed at once

messages = st.builds(
    lambda tokens, pairs, numbers, grams, parts: (
        [(word, times, parts[word]) for word, times in tokens.items()],
        numbers,
        [(pair, parts[pair]) for pair in sorted(pairs)],
        sorted(grams),
    ),
    st.dictionaries(st.sampled_from(WORDS), st.integers(1, 60_000), max_size=9),
    st.sets(st.sampled_from(PAIRS), max_size=5),
    st.dictionaries(st.sampled_from(["size", "hour"]), st.integers(0, 500), max_size=2),
    st.sets(st.sampled_from([0, 5, 70_000, COUNTERS - 1]), max_size=4),
    st.lists(st.integers(0, 1), min_size=18, max_size=18),
)


class Corpus:
    """Some messages of each label, as they come from reading mail."""

    def __init__(self, labels, mail):
        self.labels, self.messages = labels, [message for _, message in mail]
        self.truth = np.array([label for label, _ in mail], np.int64)
        self.features = [FeatureSet.of(*message) for message in self.messages]
        self.rows, self.everyone = MessageRows.of(self.features), np.arange(len(mail))
        self.rows.keeps_places = True

    def table(self, learned):
        """A table that knows the words of all messages, and counts those learned."""
        table = CountTable(self.labels)
        table.add(self.rows, self.everyone, self.truth, 0, 0)
        return self.added(table, learned)

    def added(self, table, learned, sign=1):
        learned = np.array(learned, np.int64)
        table.add(self.rows, learned, self.truth[learned], 0, sign)
        return table

    def by_hand(self, view, learned, message, misfiled=NONE_MISFILED):
        """The log-joint of a message by those learned, token by token."""
        counts = SimpleTable(self.labels)
        for number in learned:
            counts.learn(self.labels[self.truth[number]], *self.messages[number])
        likelihood = Likelihood(counts, view, misfiled)
        scorer, (tokens, numbers, pairs, grams) = Scorer(likelihood), self.messages[message]
        length = sum(times for _, times, _ in tokens)
        for word, occurrences, part in tokens if view.event != "gaussian" else ():
            known = tuple(counts.tokens.get(word, [0] * 2 * len(self.labels)))
            times = occurrences if view.event == "multinomial" else 1
            if view.tfidf:
                times = occurrences / length * likelihood.idf(known)
            scorer.add(known, times, part)
        for pair, part in pairs if view.pairs else ():
            scorer.add(tuple(counts.pairs.get(pair, [0] * len(self.labels))), 1, PAIR | part)
        if scorer.grams:
            for counter in grams:
                row = counts.grams.get(counter, [0] * len(self.labels))
                scorer.grams.add(tuple(row), 1, part_of(counter))
        joint = scorer.joint()
        for item in likelihood.numeric_evidence(numbers) if view.numbers else ():
            joint = [before + weight for before, weight in zip(joint, item.weights, strict=True)]
        return joint


def corpora(labels):
    mail = st.lists(st.tuples(st.integers(0, len(labels) - 1), messages), min_size=2, max_size=8)
    return mail.map(lambda drawn: Corpus(labels, drawn))


@st.composite
def views(draw, labels):
    event = draw(st.sampled_from(["multinomial", "binary", "bernoulli", "gaussian"]))
    shares = st.fixed_dictionaries({label: st.sampled_from([0.0, 0.5, 3.0]) for label in labels})
    return View(
        event,
        draw(st.sampled_from(SMOOTHINGS)),
        draw(st.sampled_from(["counts", "uniform"]) | shares.filter(lambda own: any(own.values()))),
        tfidf=draw(st.booleans()),
        numbers=draw(st.booleans()),
        pairs=draw(st.booleans()),
        least_evidence=draw(st.sampled_from([0.0, 0.7, 2.5])),
        damping=draw(st.sampled_from([None, 0.0, 4.0])),
        split_head_body=draw(st.booleans()),
        grams=draw(st.booleans()),
    )


def questions(labels):
    return st.tuples(corpora(labels), views(labels))


@st.composite
def averaging_views(draw):
    """Those that decide by cutoffs, as the default one does."""
    as_drawn = draw(views(("ham", "spam"))).as_map()
    smoothing = draw(st.sampled_from(SMOOTHINGS[:-1]))
    fixed = {"event": "binary", "smoothing": smoothing, "tfidf": False, "numbers": False}
    drawn = {"damping": draw(st.sampled_from([0.0, 4.0])), "pairs": draw(st.booleans())}
    return View.from_map({**as_drawn, **fixed, **drawn})


def joints(score, rows, messages, *labels):
    """What a method of a scorer puts for some messages."""
    found = np.empty((len(messages), len(rows.labels)))
    score(rows.rows, np.array(messages, np.int64), *labels, found)
    return found.tolist()


def without_places(corpus):
    """The same messages, of which nothing is known but their fingerprints."""
    other = Corpus(corpus.labels, [])
    other.rows = pickle.loads(pickle.dumps(corpus.rows))
    return other


@given(st.sampled_from(LABELS).flatmap(questions), st.randoms())
@examples_times(2)
def test_every_way_to_score(question, chance):
    corpus, view = question
    learned = [number for number in corpus.everyone if chance.random() < 0.7] or [0]
    expected = [corpus.by_hand(view, learned, message) for message in corpus.everyone]
    table = corpus.table(learned)
    classifier = Classifier(table, view)
    assert [classifier.score(own).joint for own in corpus.features] == expected
    scorer = FeatureScorer(classifier, table)
    assert [scorer.score(own)[0] for own in corpus.features] == expected
    assert joints(scorer.score_rows, corpus, corpus.everyone) == expected
    assert joints(scorer.score_rows, without_places(corpus), corpus.everyone) == expected
    many = np.tile(corpus.everyone, MANY)
    assert joints(scorer.another().score_rows, corpus, many) == expected * MANY
    halves = [corpus.added(CountTable(corpus.labels), learned[start::2]) for start in (0, 1)]
    layered = FeatureScorer(classifier, CountSum(*halves))
    assert joints(layered.score_rows, corpus, corpus.everyone) == expected
    assert [layered.score(own)[0] for own in corpus.features] == expected


@given(
    st.sampled_from(LABELS).flatmap(corpora),
    averaging_views(),
    st.sampled_from([NONE_MISFILED, (0.05, 0.0), (0.1, 0.5)]),
)
@examples_times(2)
def test_left_out(corpus, view, misfiled):
    everyone = corpus.everyone.tolist()
    table = corpus.table(everyone)
    likelihood = Likelihood(table, view)
    scorer = FeatureScorer(likelihood, table)
    before = joints(scorer.score_rows, corpus, everyone)
    likelihood.correct(misfiled)
    expected = [corpus.by_hand(view, [n for n in everyone if n != left], left, misfiled) for left in everyone]
    assert joints(scorer.score_left_out, corpus, everyone, corpus.truth) == expected
    assert joints(scorer.score_left_out, without_places(corpus), everyone, corpus.truth) == expected
    many = np.tile(corpus.truth, MANY)
    assert joints(scorer.score_left_out, corpus, everyone * MANY, many) == expected * MANY
    likelihood.correct(NONE_MISFILED)
    assert joints(scorer.score_rows, corpus, everyone) == before


@given(st.sampled_from(LABELS).flatmap(questions), st.booleans())
@examples_times(2)
def test_online(question, knows_places):
    corpus, view = question
    expected = [corpus.by_hand(view, range(message), message) for message in corpus.everyone]
    table = corpus.table([]) if knows_places else CountTable(corpus.labels)
    scorer = FeatureScorer(Likelihood(table, view), table)
    assert joints(scorer.score_online, corpus, corpus.everyone, corpus.truth) == expected
    after = Classifier(corpus.table(corpus.everyone), view)
    assert [scorer.score(own)[0] for own in corpus.features] == [
        after.score(own).joint for own in corpus.features
    ]


@given(corpora(("home", "spam", "news", "work")), averaging_views())
@examples_times(2)
def test_spam_against_the_rest(corpus, view):
    """To split ham into several labels changes neither the score of spam nor that of a part."""
    mail = zip((corpus.truth == 1).astype(int).tolist(), corpus.messages, strict=True)
    joined = Corpus(("ham", "spam"), list(mail))
    several, two = (Classifier(own.table(own.everyone), view) for own in (corpus, joined))
    for own in corpus.features:
        score, of_two = several.score(own), two.score(own)
        assert score.of("spam") == of_two.of("spam")
        assert score.highest_lead_of_a_part("spam") == of_two.highest_lead_of_a_part("spam")


RAW = [
    b"Subject: cheap pills now\n\nbuy pills, buy them now\n",
    b"Subject: lunch at noon\n\nsee you at noon in the small room\n",
    b"Subject: pills\nContent-Type: text/html\n\n<b>buy</b> now\n",
]


def test_raw_messages_as_features():
    settings = Settings()
    features = [Tokenizer(settings).features(read(raw)) for raw in RAW]
    table = CountTable(("ham", "spam"))
    table.add(MessageRows.of(features), np.arange(3), np.array([1, 0, 1]), 0)
    for view in (DEFAULT_VIEW, View("bernoulli", numbers=True)):
        classifier = Classifier(table, view)
        expected = [summary(classifier.score(own)) for own in features]
        for are_many in (False, True):
            scorers = Scorers(classifier, settings, are_many)
            assert [summary(score) for score in scorers.scores(RAW)] == expected
            assert [summary(scorers.score(own)) for own in features] == expected
            assert [summary(scorers.with_evidence(own)) for own in features] == expected


def summary(score: Score):
    return score.joint, score.parts
