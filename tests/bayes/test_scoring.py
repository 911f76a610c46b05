"""One message, many at once, left out, online: the same score to the last bit, by every view of any table."""

from dataclasses import replace

import numpy as np
from helpers.generated import examples_times
from helpers.simple_table import SimpleTable
from hypothesis import given
from hypothesis import strategies as st

from spamnb.arrays import MISSING, Rows, Sets
from spamnb.bayes.bulk_classifier import BulkClassifier
from spamnb.bayes.classifier import Classifier
from spamnb.bayes.likelihood import NONE_MISFILED
from spamnb.bayes.view import GLOBAL, View
from spamnb.core.native import COUNTERS
from spamnb.evaluation.corpus import Corpus

WORDS, PAIRS = range(12), range(12, 18)  # places in the vocabulary
LABELS = ("ham", "spam"), ("ham", "news", "spam"), ("spam", "ham", "home", "news", "work")
SMOOTHINGS = (0.0, 1e-300, 0.01, 0.3, 1.0, GLOBAL)

messages = st.fixed_dictionaries(
    {
        "tokens": st.dictionaries(st.sampled_from(WORDS), st.integers(1, 60_000), max_size=9),
        "pairs": st.sets(st.sampled_from(PAIRS), max_size=5),
        "grams": st.sets(st.sampled_from([0, 5, 70_000, COUNTERS - 1]), max_size=4),
        "numbers": st.dictionaries(st.sampled_from(["size", "hour"]), st.integers(0, 500), max_size=2),
    }
)


@st.composite
def corpora(draw, labels):
    """Some messages of each label, as they come from reading mail."""
    mail = draw(st.lists(st.tuples(st.integers(0, len(labels) - 1), messages), min_size=2, max_size=8))
    entries = [
        [*sorted(own["tokens"].items()), *((pair, 0) for pair in sorted(own["pairs"]))] for _, own in mail
    ]
    flat = np.array([entry for own in entries for entry in own], np.int64).reshape(-1, 2)
    parts = np.array(draw(st.lists(st.integers(0, 1), min_size=18, max_size=18)), np.uint8)
    rows = Rows(
        np.cumsum([0, *map(len, entries)]),
        flat[:, 0].astype(np.int32),
        flat[:, 1].astype(np.uint16),
        parts[flat[:, 0]],
        {name: np.array([own["numbers"].get(name, MISSING) for _, own in mail]) for name in ("size", "hour")},
        Sets(
            np.cumsum([0, *(len(own["grams"]) for _, own in mail)]),
            np.array([counter for _, own in mail for counter in sorted(own["grams"])], np.uint32),
        ),
    )
    truth = np.array([label for label, _ in mail], np.int8)
    fingerprints = np.arange(18, dtype=np.uint64)
    return Corpus(labels, truth, [("", None)] * len(mail), np.empty(0), [], rows, fingerprints, [], [])


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


def features(corpus, message):
    """What a classifier of one message takes."""
    entries = slice(*corpus.rows.starts[message : message + 2])
    places, times = corpus.rows.places[entries].tolist(), corpus.rows.times[entries].tolist()
    parts = corpus.rows.parts[entries].tolist()
    found = list(zip(places, times, parts, strict=True))
    tokens = [token for token in found if token[1]]
    pairs = [(place, part) for place, many, part in found if not many]
    numbers = {
        name: int(own[message]) for name, own in corpus.rows.numbers.items() if own[message] != MISSING
    }
    grams = corpus.rows.grams.chosen(np.array([message])).members.tolist()
    return tokens, numbers, pairs, grams


def one_by_one(corpus, view, learned, message, misfiled=NONE_MISFILED):
    """The log-joint of a message by those learned."""
    counts = SimpleTable(corpus.labels)
    for number in learned:
        counts.learn(corpus.labels[corpus.truth[number]], *features(corpus, number))
    return Classifier(counts, view, misfiled).score(*features(corpus, message)).joint


@given(st.sampled_from(LABELS).flatmap(questions), st.randoms())
@examples_times(2)
def test_many_at_once(question, chance):
    corpus, view = question
    learned = [number for number in range(len(corpus)) if chance.random() < 0.7] or [0]
    table = corpus.table(np.isin(np.arange(len(corpus)), learned))
    together = BulkClassifier.of(table, view).joints(corpus.rows).tolist()
    assert together == [one_by_one(corpus, view, learned, message) for message in range(len(corpus))]


@given(
    st.sampled_from(LABELS).flatmap(corpora),
    averaging_views(),
    st.sampled_from([NONE_MISFILED, (0.05, 0.0), (0.1, 0.5)]),
)
@examples_times(2)
def test_left_out(corpus, view, misfiled):
    table = corpus.table(np.ones(len(corpus), bool))
    classifier = BulkClassifier.of(table, view)
    everyone = range(len(corpus))
    classifier.likelihood.correct(misfiled)
    expected = [
        one_by_one(corpus, view, [n for n in everyone if n != left], left, misfiled) for left in everyone
    ]
    classifier.open(corpus.rows)
    assert classifier.left_out_joints(everyone, corpus.truth.tolist()).tolist() == expected
    classifier.likelihood.correct(NONE_MISFILED)
    assert (classifier.joints(corpus.rows) == BulkClassifier.of(table, view).joints(corpus.rows)).all()


@given(corpora(("home", "spam", "news", "work")), averaging_views())
@examples_times(2)
def test_spam_against_the_rest(corpus, view):
    """To split ham into several labels changes neither the score of spam nor that of a part."""
    joined = replace(corpus, labels=("ham", "spam"), truth=(corpus.truth == 1).astype(np.int8))
    everyone = np.ones(len(corpus), bool)
    for score, of_two in zip(
        BulkClassifier.of(corpus.table(everyone), view).scores(corpus.rows),
        BulkClassifier.of(joined.table(everyone), view).scores(corpus.rows),
        strict=True,
    ):
        assert score.of("spam") == of_two.of("spam")
        assert score.most_of_a_part("spam") == of_two.most_of_a_part("spam")
