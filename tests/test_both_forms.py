"""Compiled or interpreted, the core gives the same result for any message, to the last bit."""

from __future__ import annotations

from importlib import import_module

import pytest
from fuzz.families import BODY, BOX, FAMILIES, HEADERS
from helpers.interpreted import interpreted
from helpers.paths import GOLDEN, SPAMASSASSIN
from hypothesis import given
from hypothesis import strategies as st

from spamnb.cli.version import form_of_core

FORMS = (import_module, interpreted)
HOSTILE = 4 << 10  # bytes of a message that is made to cost as much as it can
AT_ONCE = 250
SAMPLE = 40  # of the messages of a mailbox, every how many are in the fast tests
MAILBOXES = sorted(SPAMASSASSIN.glob("*.mbox.xz"))
pytestmark = pytest.mark.skipif(form_of_core() == "interpreted", reason="the core is not compiled")


def read_by(form, raw):
    """All that one form makes of a message."""
    message = form("spamnb.reading.message").read(raw)
    features = tokenizer(form).features(message)
    parts = [(part.content_type, part.headers, part.text, part.size, part.filename) for part in message.parts]
    return {
        "message": (message.headers, parts),
        "digest": form("spamnb.reading.identity").digest(message),
        "tokens": features.tokens,
        "pairs": features.pairs,
        "numbers": features.numbers,
        "texts": features.texts,
    }


def counted_by(form, messages):
    """The rows of messages read in bulk, as one form numbers them."""
    chunks = form("spamnb.mailboxes.chunks")
    chunk = chunks.ReadMessages([chunks.RawMessage("-", None, raw) for raw in messages], 0)
    batch = form("spamnb.training.batches").batch_of(chunk, None, tokenizer(form))
    rows = batch.rows
    arrays = [rows.starts, rows.places, rows.times, rows.parts, batch.fingerprints, batch.digests]
    return [array.tolist() for array in (*arrays, *rows.numbers.values())], list(rows.numbers)


def tokenizer(form):
    return form("spamnb.reading.tokenizer").Tokenizer(form("spamnb.reading.settings").Settings())


def messages_by(form, path):
    found = form("spamnb.mailboxes.sources").messages([str(path)])
    return [one.data if hasattr(one, "data") else (one.path, one.why) for one in found]


def agree(messages):
    for raw in messages:
        compiled, plain = [read_by(form, raw) for form in FORMS]
        assert compiled == plain
    compiled, plain = [counted_by(form, messages) for form in FORMS]
    assert compiled == plain


@pytest.fixture(scope="module", params=MAILBOXES, ids=lambda path: path.name)
def mailbox(request):
    return messages_by(import_module, request.param)


def test_one_form_is_compiled_and_one_is_not():
    name = "spamnb.reading.words"
    assert [str(form(name).__file__).rpartition(".")[2] for form in FORMS] == ["so", "py"]
    assert interpreted("spamnb.reading.features").Features.__module__ == "spamnb_interpreted.reading.features"


def test_golden_messages():
    agree([path.read_bytes() for path in sorted(GOLDEN.glob("*.eml"))])


@pytest.mark.parametrize("kind", [BODY, HEADERS])
def test_hostile_messages(kind):
    agree([make(HOSTILE) for make in FAMILIES[kind].values()])


@given(st.lists(st.binary(max_size=200), max_size=3))
def test_any_bytes(messages):
    agree(messages)


def test_a_sample_of_the_corpus(mailbox):
    agree(mailbox[::SAMPLE])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_all_of_the_corpus(mailbox, part):
    agree(mailbox[AT_ONCE * part : AT_ONCE * (part + 1)])


@pytest.mark.parametrize("path", MAILBOXES[:1], ids=lambda path: path.name)
def test_a_mailbox_is_cut_alike(path):
    compiled, plain = [messages_by(form, path) for form in FORMS]
    assert compiled == plain


@pytest.mark.parametrize("make", FAMILIES[BOX].values(), ids=FAMILIES[BOX])
def test_a_hostile_mailbox_is_cut_alike(make, tmp_path):
    (path := tmp_path / "box").write_bytes(make(HOSTILE))
    compiled, plain = [messages_by(form, path) for form in FORMS]
    assert compiled == plain


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
