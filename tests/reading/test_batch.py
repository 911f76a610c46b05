"""Messages gathered in bulk have the very features that each has by itself."""

import base64
from itertools import islice

import numpy as np
import pytest
from helpers.paths import GOLDEN, SPAMASSASSIN
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.arrays import MISSING, quantile, run_starts, stable_order
from spamnb.mailboxes.chunks import RawMessage, ReadMessages
from spamnb.mailboxes.sources import messages
from spamnb.reading.features import BODY, LONGEST_WORD, MOST_WORDS, fingerprints_of
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer
from spamnb.training.batches import batch_of

CHOICES = [
    {},
    {"ngrams": 3},
    {"keep_case": True},
    {"headers": False},
    {"stop_words": ("the", "and", "été", "你好")},
    {"stop_language": "english", "stem": "english", "ngrams": 2},
]


def gathered(raws, tokenizer):
    """Of each message in a batch its tokens, its pairs, its numbers, the texts of its tokens, its grams."""
    chunk = ReadMessages([RawMessage("mail", number, raw) for number, raw in enumerate(raws)], 0)
    batch = batch_of(chunk, None, tokenizer)
    rows = batch.rows
    assert (batch.fingerprints[1:] > batch.fingerprints[:-1]).all()  # sorted, and none twice
    ends = batch.texts.ends
    assert len(batch.texts.data) == (ends[-1] if len(ends) else 0)
    found = []
    for number in range(len(raws)):
        tokens, pairs, texts = [], [], {}
        for entry in range(rows.starts[number], rows.starts[number + 1]):
            place, times, part = int(rows.places[entry]), int(rows.times[entry]), int(rows.parts[entry])
            (text,) = batch.texts.decoded([place])
            fingerprint = int(batch.fingerprints[place])
            if times:
                tokens.append((fingerprint, times, part))
                texts[fingerprint] = text
            else:
                assert text == ""
                pairs.append((fingerprint, part))
        numbers = {name: int(values[number]) for name, values in rows.numbers.items()}
        numbers = {name: value for name, value in numbers.items() if value != MISSING}
        grams = rows.grams.members[rows.grams.starts[number] : rows.grams.starts[number + 1]].tolist()
        found.append((sorted(tokens), sorted(pairs), numbers, texts, grams))
    return found


def by_itself(raw, tokenizer):
    features = tokenizer.features(read(raw))
    return (
        sorted(features.tokens),
        sorted(features.pairs),
        features.numbers,
        features.texts,
        features.grams,
    )


def assert_same(raws, **choices):
    tokenizer = Tokenizer(Settings(**choices))
    for raw, found in zip(raws, gathered(raws, tokenizer), strict=True):
        assert found == by_itself(raw, tokenizer), raw


pieces = st.sampled_from(
    [
        *"buy NOW the and don't 'quoted' ''twice'' ' it's' $5 free!!! _ - eightby8 eightby8t ~".split(" "),
        *("x" * LONGEST_WORD, "x" * (LONGEST_WORD + 1), "Y" * 70, "漢" * 40),
        *("ä" * (LONGEST_WORD - 1), "ä" * (LONGEST_WORD + 1)),
        *"sixteenbytes1234 sixteenbytes12345 ééééé tschüß ŉ İ ﷺ été l’été 你好 ภาษา 한국어".split(" "),
        *"vіаgrа ｆｒｅｅ 🅵🆁 a\u0301\u0301 re\u200bad x\xad".split(" "),
        *"http://example.com/a?b=c me@example.org a.b,c".split(" "),
        *"\x00\x85\u2028\x1c\t\n",
    ]
)
texts = st.lists(st.tuples(pieces, st.sampled_from([" ", "", "\n", "  ", ".", "' "])), max_size=12).map(
    lambda made: "".join(piece + gap for piece, gap in made)
)
texts |= st.text(max_size=30)


def plain(subject, body):
    head = " ".join(subject.split()).encode("utf-8", "replace")
    start = b"Subject: " + head + b"\nContent-Type: text/plain; charset=utf-8\n\n"
    return start + body.encode("utf-8", "replace")


def page(subject, body):
    html = f"<p>{body}</p><p style='display:none'>{subject}</p><a href='http://example.com/{len(body)}'>x</a>"
    packed = base64.encodebytes(html.encode("utf-8", "replace"))
    head = (
        b"From: a@example.org\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    )
    return head + packed


def parts(subject, body):
    boundary = b"--b\nContent-Type: text/plain; charset=utf-8\n\n"
    some = [one.encode("utf-8", "replace") + b"\n" for one in (body, "", subject)]
    head = b"To: a@example.org\nContent-Type: multipart/mixed; boundary=b\n\n"
    return head + boundary + boundary.join(some) + b"--b--\n"


mail = st.builds(
    lambda make, subject, body: make(subject, body), st.sampled_from([plain, page, parts]), texts, texts
)


@given(st.lists(mail | st.binary(max_size=20), max_size=5), st.sampled_from(CHOICES))
@example([], {})
@example([b""], {})
@example([b"", b"", b"a", b""], {"headers": False})
@example([b"Url: link\nType: text\n\nhttp://link/", b"", b"Url: other\n\nurl"], {})
def test_made_mail(raws, choices):
    assert_same(raws, **choices)


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_golden_mail(choices):
    assert_same([path.read_bytes() for path in sorted(GOLDEN.glob("*.eml"))], **choices)


@pytest.mark.skipif(not SPAMASSASSIN.exists(), reason="the source distribution leaves the corpora out")
@pytest.mark.parametrize("name", ["hard-ham", "spam"])
@pytest.mark.slow
def test_real_mail(name):
    found = islice(messages([str(SPAMASSASSIN / f"{name}.mbox.xz")]), 120)
    assert_same([raw.data for raw in found if isinstance(raw, RawMessage)])


@pytest.mark.parametrize("ngrams", [1, 4])
@pytest.mark.parametrize(
    "body",
    [
        " ".join(f"word{n}" for n in range(MOST_WORDS + 5)),
        "a " * (2 * MOST_WORDS),
        "'é' " * MOST_WORDS,
        "x" * 1_000_000,
        "漢字" * MOST_WORDS,
    ],
    ids=lambda body: body[:8],
)
@pytest.mark.slow
def test_floods(body, ngrams):
    assert_same(
        [plain("a flood", body), parts(body, "beside it"), plain("behind it", "one more")], ngrams=ngrams
    )


def test_words_that_collide_are_one(alike):
    one, other = alike
    assert fingerprints_of([one]) == fingerprints_of([other])
    raw, tokenizer = f"{one} {other} {other}".encode(), Tokenizer(Settings())
    (found,) = gathered([raw], tokenizer)
    assert (fingerprints_of([one])[0], 3, BODY) in found[0]
    assert found == by_itself(raw, tokenizer)


# What it is made of


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40) | st.integers(2**64 - 9, 2**64 - 1)))
def test_the_order_of_numbers_is_stable(numbers):
    """Whether their first bits tell them apart or their last."""
    order = stable_order(np.array(numbers, np.uint64)).tolist()
    assert order == sorted(range(len(numbers)), key=numbers.__getitem__)


def test_changes():
    assert run_starts(np.array([], np.uint64)).tolist() == []
    assert run_starts(np.array([7, 7, 3, 7], np.uint64)).tolist() == [True, False, True, True]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values, share):
    assert quantile(np.sort(values), share) == pytest.approx(np.quantile(values, share), abs=1e-9)
