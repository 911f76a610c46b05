"""Learning one message: the same counts as training in bulk, whatever is killed, torn or done at once."""

import os
import tempfile

import pytest
from helpers.generated import examples_times
from helpers.learning import MAIL, fold, seen, train_bulk
from hypothesis import given
from hypothesis import strategies as st

from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn

steps = st.lists(
    st.tuples(
        st.integers(0, len(MAIL) - 2)
        | st.just(-1),  # a message (to a mailbox the empty file is none), or fold
        st.sampled_from(["ham", "spam", None]),
    ),
    max_size=14,
)


@given(steps, st.sampled_from([300, 1500, 1 << 20]))
@examples_times(0.25)
def test_any_sequence_counts_like_bulk_training_of_what_is_left(sequence, limit):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.journal.FOLD_LIMIT", limit)
        patch.setattr("spamnb.training.learn.TOO_LONG", limit)  # then it does not leave it to another process
        path = os.path.join(folder, "model")
        training.create(path)
        now: dict[bytes, str | None] = {}
        for number, label in sequence:
            if number < 0:
                fold(path)
                continue
            before = now.get(MAIL[number])
            result = learn(path, MAIL[number], label)
            if before == label:
                assert result == ("known" if label else "unknown")
            else:
                assert result == ("forgotten" if label is None else "moved" if before else "learned")
            now[MAIL[number]] = label
        left = [(raw, label) for raw, label in now.items() if label]
        expected = train_bulk(folder, left)
        assert seen(path) == seen(expected)
        before = seen(path)
        fold(path)
        assert seen(path) == before


# What is the same message

SAME = {
    "CRLF": MAIL[0].replace(b"\n", b"\r\n"),
    "our verdict last": MAIL[0].replace(b"\n\n", b"\nX-Spamnb: spam;\n score=3\n\n", 1),
    "read": b"Status: RO\nX-Status: A\n" + MAIL[0],
    "mbox": b"From ann@example.org Mon Jan  1 00:00:00 2024\n" + MAIL[0],
    "delivered": b"Return-Path: <a@example.org>\nDelivered-To: b@example.org\n" + MAIL[0],
    "judged": b"X-Spam-Status: Yes,\n\tscore=9\nX-Bogosity: Spam\n" + MAIL[0],
    "counted": b"Content-Length: 17\nLines: 1\n" + MAIL[0],
    "blank lines at the end": MAIL[0] + b"\n\n",
}


@pytest.mark.parametrize("how", SAME)
def test_a_copy_is_the_same_message(model, how):
    learn(model, MAIL[0], "ham")
    before = seen(model)
    assert learn(model, SAME[how], "ham") == "known"
    assert learn(model, SAME[how], "spam") == "moved"
    assert learn(model, MAIL[0], "ham") == "moved"
    assert seen(model) == before
    assert learn(model, SAME[how], None) == "forgotten"
    assert StoredModel.open(model).vocabulary == 0
    assert StoredModel.open(model).histogram() == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"\nbuy now", b"\nStatus of your order\nbuy now"),
        (b"Subject: a\nbuy now", b"Subject: a\nbuy now\nStatus"),
        (b"Subject: a\n--b\nbuy now", b"Subject: a\n--b\nStatus: shipped\nbuy now"),
    ],
)
def test_no_two_messages_can_spoil_a_model(model, one, other):
    """Whoever sends them chooses their bytes."""
    learn(model, one, "spam")
    learn(model, other, "ham")
    learn(model, MAIL[0], "ham")
    fold(model)
    assert learn(model, MAIL[1], "ham") == "learned"


def test_no_message_can_bloat_a_model(tmp_path, model):
    """Words of a header are tagged with its name, which the sender chooses, too."""
    words = b" ".join(b"w%d" % number for number in range(200))
    raw = b"Subject: x\n" + b"X" * 50_000 + b": " + words + b"\n\nhello\n"
    assert learn(model, raw, "spam") == "learned"
    assert sum(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path)) < 10 * len(raw)
