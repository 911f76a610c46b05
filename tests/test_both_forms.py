"""Compiled or interpreted, the core gives the same result for any message, to the last bit."""

from __future__ import annotations

from importlib import import_module
from math import log

import numpy as np
import pytest
from fuzz.both_forms import OF_MAIL, same
from fuzz.families import BODY, BOX, FAMILIES, HEADERS
from helpers.interpreted import interpreted
from helpers.paths import GOLDEN, SPAMASSASSIN
from helpers.simple_table import SimpleTable
from helpers.tables import saved, stored, token_of
from helpers.tiers import only_long
from hypothesis import given
from hypothesis import strategies as st

from spamnb.arrays import Texts
from spamnb.cli.version import form_of_core
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.tables.count_table import CountTable

FORMS = (import_module, interpreted)
HOSTILE = 1 << 10  # bytes of a message that is made to cost as much as it can
SAMPLE = 100  # of the messages of a mailbox, every how many are in the fast tests
MAILBOXES = sorted(SPAMASSASSIN.glob("*.mbox.xz"))
pytestmark = pytest.mark.skipif(form_of_core() == "interpreted", reason="the core is not compiled")


def agree(raws):
    for what in ("charset", *OF_MAIL):
        for raw in raws:
            same(what)(raw)


def corpus():
    return [one.data for one in messages(list(map(str, MAILBOXES))) if isinstance(one, RawMessage)]


def test_one_form_is_compiled_and_one_is_not():
    name = "spamnb.reading.words"
    assert [str(form(name).__file__).rpartition(".")[2] for form in FORMS] == ["so", "py"]
    assert interpreted("spamnb.reading.features").Features.__module__ == "spamnb_interpreted.reading.features"


def test_golden_and_hostile_messages():
    agree([path.read_bytes() for path in sorted(GOLDEN.glob("*.eml"))])
    for make in (*FAMILIES[BODY].values(), *FAMILIES[HEADERS].values()):
        agree([make(HOSTILE)])


@given(st.lists(st.binary(max_size=200), max_size=3))
def test_any_bytes(raws):
    agree(raws)


def test_a_sample_of_the_corpus():
    agree(corpus()[::SAMPLE])


@only_long
@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_all_of_the_corpus(part):
    agree(corpus()[part::16])


@pytest.mark.parametrize("make", FAMILIES[BOX].values(), ids=FAMILIES[BOX])
def test_a_hostile_mailbox_is_cut_alike(make):
    same("mailbox")(make(HOSTILE))


def test_models_and_verdicts(mail, tmp_path):
    """Trained by one form and by the other: the same file; read by either: the same verdicts."""
    models, verdicts = [], []
    for form in FORMS:
        path = tmp_path / form.__name__
        form("spamnb").train(path, {"ham": [mail.ham], "spam": [mail.spam]}, jobs=1)
        form("spamnb").learn(path, mail.messages["work"], "ham")
        models.append([path.read_bytes(), (tmp_path / f"{path.name}.journal").read_bytes()])
    for form in FORMS:
        model = form("spamnb.model").Model.open(tmp_path / "interpreted")
        judged = [model.classify(raw) for raw in mail.messages.values()]
        verdicts.append([(one.label, one.score, one.probability, one.probabilities) for one in judged])
    assert models[0] == models[1]
    assert verdicts[0] == verdicts[1]


# Where C's numbers end and Python's do not

EDGES = [0, 1, *(2**bits + more for bits in (7, 8, 15, 16, 31, 32, 63) for more in (-1, 0, 1)), 2**64 - 1]


def test_fingerprints_at_the_edges():
    blocks = [number.to_bytes(8, "little") for number in EDGES]
    tokens = [*blocks, *(one + other for one in blocks for other in blocks), b"\xff" * 23]
    found = [[form("spamnb.reading.features").fingerprint_of(token) for token in tokens] for form in FORMS]
    assert found[0] == found[1]
    assert max(found[0]) > 2**63 > min(found[0])


@pytest.mark.parametrize("highest", [2**8 - 1, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40])
def test_counts_at_the_edges(highest, tmp_path):
    """In a file with fingerprints and counts of any size: the same rows, the same scores."""
    fingerprints = np.array(sorted(set(EDGES)), np.uint64)
    counts = np.array([np.full(len(fingerprints), highest), np.arange(len(fingerprints))])
    texts, days = (
        Texts.of([b"w%d" % n for n in range(len(fingerprints))]),
        np.ones(len(fingerprints), np.uint16),
    )
    table = CountTable(
        ("ham", "spam"), (highest, highest), {}, fingerprints, texts, counts, counts, days, days
    )
    path = saved(str(tmp_path / "model"), table, settings={}, view={})
    found = []
    for form in FORMS:
        stored, view = form("spamnb.store.stored_model").StoredModel.open(path), {"smoothing": 0.5}
        scorer = form("spamnb.bayes.classifier").Classifier(stored, form("spamnb.bayes.view").View(**view))
        tokens = [(number, 65_535, 0) for number in fingerprints.tolist()]
        found.append((stored.rows(fingerprints.tolist()), scorer.score(tokens).joint))
    assert found[0] == found[1]
    assert found[0][0][2**64 - 1][:2] == (highest, len(fingerprints) - 1)


@pytest.mark.parametrize("highest", [2**32 - 1, 2**32])
def test_counts_in_memory_at_the_edge(highest, tmp_path):
    """A hash table has room for counts of 32 bits; a model with a higher one does without."""
    rows = {1: (highest, 1, 1, 1), 2**63: (1, highest, 1, 1), 2**64 - 1: (highest, 0, 1, 0)}
    path, scores = stored(tmp_path, rows, dtype=np.int64).path, []
    for form in FORMS:
        model = form("spamnb.in_memory").load_into_memory(form("spamnb.model").Model.open(path))
        assert (model.scorer is None) == (highest == 2**32)
        reading = form("spamnb.reading.features")
        features = reading.Features()
        for token in map(token_of, rows):
            features.add(reading.NO_TAG, token, 0, len(token), reading.BODY)
        score, verdict = model.score(features), model.verdict(features)
        assert len(score.evidence) == 3
        scores += [score.joint[1] - score.joint[0], verdict.score]
    assert len(set(scores)) == 1


SMALLEST = 5e-324  # a smoothing: the weights are as large as they get
MANY = 20_000  # of them are more than 63 bits hold


@pytest.mark.parametrize("labels", [("ham", "spam"), ("ham", "spam", "work"), ("a", "b", "c")])
@pytest.mark.parametrize(
    "chosen",
    [
        {"event": "binary", "damping": 0.0},
        {"event": "binary", "damping": None, "prior": "uniform"},
        {"event": "multinomial", "damping": None, "prior": "uniform"},
    ],
    ids=["mean", "sum", "times"],
)
def test_sums_at_the_edge(labels, chosen):
    """A message of words that only the first label has: the sum is exact, whatever its size."""
    many, times = (3, 2**30) if chosen["event"] == "multinomial" else (MANY, 1)
    table, tokens, found = SimpleTable(labels), [(number, times, 0) for number in range(many)], []
    table.learn(labels[0], tokens)
    for label in labels[1:]:
        table.learn(label, [(MANY, 1, 0)])
    for form in FORMS:
        view = form("spamnb.bayes.view").View(smoothing=SMALLEST, **chosen)
        classifier = form("spamnb.bayes.classifier").Classifier(table, view)
        score = classifier.score(tokens)
        units = int(classifier.weights(table.rows([0])[0])[1] * 2**40)
        assert len(score.evidence) == many
        total = many * int(float(times * units)) / 2**40
        assert score.joint[1] == (total / many if view.damping is not None else total - log(len(labels)))
        assert abs(many * times * units) > 2**63
        found.append(score.joint)
    assert found[0] == found[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_tokens_takes_no_more_than_it_has_room_for(form):
    tables = form("spamnb.reading.token_table")
    table = tables.TokenTable()
    for number in range(tables.ENTRIES):
        assert table.entry_of(number, 0, 0, 0) == number
    for _ in range(2):
        assert table.entry_of(2**64 - 1, 0, 0, 0) == -1
    assert tables.number_in([table], tables.ENTRIES - 1) == tables.ENTRIES - 1


@pytest.mark.parametrize("form", FORMS)
def test_occurrences_at_the_edges(form):
    """Of one message less than 2^31, of one token in a batch less than 2^16, or an error that says so."""
    features, batch = form("spamnb.reading.features"), form("spamnb.reading.batch")
    found = features.Features()
    for _ in range(3):
        found.add_token("word", 0, batch.MOST_OCCURRENCES // 3)
    builder = batch.BatchBuilder()
    builder.add(found)
    assert builder.build()[0].times.tolist() == [65_535]
    found.add_token("word", 0)
    with pytest.raises(OverflowError):
        builder.add(found)
    for _ in range(3):
        found.left = features.NO_LIMIT
        found.add_token("word", 0, 2**31 - 1)
    assert (found.added, [times for _, times, _ in found.tokens]) == (2**30, [2**30])


@pytest.mark.parametrize("form", FORMS)
def test_occurrences_of_a_batch_at_the_edges(form):
    """The sum for a token is in 31 bits, or there is none."""
    times = np.full(32_769, 65_535, np.uint16)
    times[0] = 32_767  # in all 2^31 - 1
    places, parts = np.zeros(len(times), np.int32), np.zeros(len(times), np.uint8)
    rows = form("spamnb.arrays").Rows(
        np.array([0, len(times)]), places, times, parts, {}, form("spamnb.arrays").Sets.empty(1)
    )
    word = np.array([7], np.uint64), form("spamnb.arrays").Texts.of([b"word"])
    make = form("spamnb.training.batches").Batch
    batch = make("ham", [("-", None)], np.array([1]), [""], rows, *word, [], 0)
    chosen = np.array([[0, 0, 1]])
    assert batch.table(["ham"], chosen, 1).occurrence_counts.tolist() == [[2**31 - 1]]
    times[0] += 1
    with pytest.raises(OverflowError):
        batch.table(["ham"], chosen, 1)


@pytest.mark.parametrize("number", EDGES)
def test_msgpack_at_the_edges(number):
    packed = [
        form("spamnb.store.msgpack_codec").pack({"n": number, "m": [-min(number, 2**63)]}) for form in FORMS
    ]
    assert packed[0] == packed[1]
    assert [form("spamnb.store.msgpack_codec").unpack(packed[0])[0]["n"] for form in FORMS] == [
        number,
        number,
    ]
