"""Compiled or interpreted, the core gives the same result for any message, to the last bit."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from fuzz.both_forms import same
from fuzz.families import BODY, BOX, FAMILIES, HEADERS
from helpers.interpreted import interpreted
from helpers.paths import GOLDEN, SPAMASSASSIN
from helpers.tables import saved
from helpers.tiers import only_long
from hypothesis import given
from hypothesis import strategies as st

from spamnb.arrays import Texts
from spamnb.cli.version import form_of_core
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.tables.count_table import CountTable

FORMS = (import_module, interpreted)
HOSTILE = 4 << 10  # bytes of a message that is made to cost as much as it can
SAMPLE = 40  # of the messages of a mailbox, every how many are in the fast tests
MAILBOXES = sorted(SPAMASSASSIN.glob("*.mbox.xz"))
CHECKS = ("message", "head", "features", "batch")
pytestmark = pytest.mark.skipif(form_of_core() == "interpreted", reason="the core is not compiled")


def agree(raws):
    for what in CHECKS:
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
