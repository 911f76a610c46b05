"""Why a message is judged as it is: a sum, and what was left out of it."""

from math import inf, log

import pytest
from helpers.learning import train_bulk
from helpers.pages import parsed, words
from hypothesis import given
from hypothesis import strategies as st

from spamnb.bayes.verdict import Evidence
from spamnb.bayes.view import View
from spamnb.core.native import Tokenizer, read
from spamnb.inspection.explanation import explain
from spamnb.inspection.marked_text import cut_text, marked_sections
from spamnb.inspection.reason import Reason, place_of
from spamnb.model import Model
from spamnb.pages.message_sections import message_page
from spamnb.reading.settings import Settings, Words

VIEWS = {
    "default": None,
    "bernoulli": View("bernoulli"),
    "bernoulli without smoothing": View("bernoulli", 0.0),
    "gaussian": View("gaussian"),
    "the mean of all in one": View("binary", 0.01, damping=4.0, pairs=True),
    "the mean, nothing silent": View("binary", 0.01, damping=0.0, split_head_body=True, numbers=True),
}


def reasons_for(*tokens):
    """Make reasons of some weight for tokens."""
    return {token: Reason(token, Evidence(token, (1, 0), 1, [0.0, 1.0]), 1.0, 1.0) for token in tokens}


def why_words(why):
    return sum(not one.is_gram and not one.is_number for one in why.reasons)


@pytest.fixture(params=["two labels", "three labels"])
def path(request, spamnb, three):
    return spamnb.model if request.param == "two labels" else three


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("name", ["ham", "work", "unsure"])
class TestSum:
    def test_it_is_the_verdict_of_classify(self, path, mail, view, name):
        model, raw = Model.open(path, view), mail.messages[name]
        why, verdict = explain(model, raw), model.classify(raw)
        assert (why.verdict.label, why.verdict.score) == (verdict.label, verdict.score)
        assert why.verdict.probabilities == verdict.probabilities
        if len(model.labels) == 2:
            assert why.lead == verdict.score or abs(why.lead) == inf

    def test_it_adds_up(self, path, mail, view, name):
        """Token by token, and part by part; where a count of zero says never, it does not claim to."""
        why = explain(Model.open(path, view), mail.messages[name])
        if not why.is_finite:
            assert view.smoothing == 0.0
            return
        little = sum(part.adds for part in why.part_sums if part.name == "little evidence")
        background = why.prior + why.absent
        near = 1e-12 * (1 + sum(1 + abs(one.adds) for one in why.reasons))  # each is rounded to 2⁻⁴⁰ nats
        assert background + little + sum(one.adds for one in why.reasons) == pytest.approx(why.lead, abs=near)
        assert background + sum(part.adds for part in why.part_sums) == pytest.approx(why.lead, abs=near)
        for part in why.part_sums:
            assert part.weight / part.divisor == pytest.approx(part.adds)
        counted = sum(one.evidence.times if one.is_gram else 1 for one in why.reasons)
        parts = [part for part in why.part_sums if part.name != "little evidence"]
        assert sum(part.tokens for part in parts) == counted
        assert [part.tokens for part in why.part_sums[len(parts) :]] in ([], [why_words(why)])


def test_bernoulli_by_hand(tmp_path):
    """`noon` and `room` are absent, with the factor 1 - P; P is (messages with it + 1) / (messages + 2)."""
    mail = [(b"noon room", "ham"), (b"noon pills", "ham"), (b"pills", "spam")]
    why = explain(Model.open(train_bulk(tmp_path, mail), View("bernoulli")), b"pills")
    (pills,) = why.reasons
    assert pills.weight == pytest.approx(log(2 / 3) - log(2 / 4))
    assert why.prior == pytest.approx(log(1 / 2))
    assert why.absent == pytest.approx(2 * log(1 - 1 / 3) - log(1 - 3 / 4) - log(1 - 2 / 4))


@pytest.mark.parametrize(
    ("where", "tokens"),
    [
        ("body", "viagra, click here"),
        ("subject", "subject:free, subject:free subject:money"),
        ("from", "from:@example.org, reply-to:ann"),
        ("received", "received:1.2., x-originating-ip:1.2.3.4"),
        ("link", "url:/buy"),
        ("attachment", "type:image/png, charset:utf-8, file:.exe"),
        ("hidden", "hidden:word"),
    ],
)
def test_where_a_token_stands(where, tokens):
    assert {place_of(token) for token in tokens.split(", ")} == {where}


class TestReading:
    @given(st.text(max_size=200) | st.text(alphabet="ab'$!-_ .,\n\té漢字\u200b\u2028\xa0“”:/w", max_size=80))
    def test_the_words_are_those_that_are_counted(self, text):
        """However a text is cut to be shown: whole, in order, and with the same words."""
        words = Words()
        found = cut_text(text, words)
        assert "".join(cut.text for cut in found) == text
        assert [word for cut in found for word in cut.words] == words.of(text)

    def test_tokens_stand_where_they_come_from(self):
        raw = (
            b"From: Ann <ann@example.org>\nX-Mailer: mutt\nSubject: cheap pills\n"
            b"Received: from a.example.net by b\n\n"
            b"Buy viagra, or click here: http://casino.example/win now\n"
        )
        tokenizer = Tokenizer(Settings())
        message = read(raw)
        counted = "from:@example.org|subject:cheap subject:pills|viagra|click here|url:casino.example"
        counted += "|header:x-mailer|received:.example.net|buy viagra"
        blocks = list(marked_sections(message, tokenizer, reasons_for(*counted.split("|")), 1000))
        titles = [block.title.text for block in blocks]
        assert titles == "From Subject text/plain X-Mailer Received".split()
        marked = {
            piece.text: piece.tokens
            for block in blocks
            for piece in (block.title, *block.pieces)
            if piece.tokens
        }
        assert marked == {
            "<ann@example.org>": ("from:@example.org",),
            "cheap": ("subject:cheap subject:pills",),
            "pills": ("subject:cheap subject:pills",),
            "Buy": ("buy viagra",),
            "viagra": ("buy viagra", "viagra"),
            "click": ("click here",),
            "here": ("click here",),
            "http://casino.example/win": ("url:casino.example",),
            "X-Mailer": ("header:x-mailer",),
            "a.example.net": ("received:.example.net",),
        }

    def test_hidden_text_is_shown_as_such(self):
        raw = b"Content-Type: text/html\n\n<p>seen</p><p style='display:none'>secret</p>"
        *_, hidden, _header = marked_sections(
            read(raw), Tokenizer(Settings()), reasons_for("hidden:secret"), 100
        )
        assert hidden.title.text == "hidden from view"
        assert [piece for piece in hidden.pieces if piece.tokens] == [("secret", ("hidden:secret",))]


def test_every_token_is_told_once(spamnb, mail):
    why = explain(Model.open(spamnb.model), mail.messages["spam"])
    reasons = [one.token for one in why.reasons if not one.is_gram and one.token != "text of learned spam"]
    said = [*(token for token in reasons if " " not in token), *why.unknown, *why.weak_rows]
    assert sorted(said) == sorted(why.features.texts.values())
    pairs = sum(" " in token for token in reasons)
    assert why.ignored_pairs == len(why.features.pairs) - pairs
    assert all(abs(one.weight) < 2.5 for one in why.weak)


CHINESE = "这是一封中文的邮件，请您查收。我们公司提供发票，价格优惠，欢迎来电咨询。"
LIE = b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + CHINESE.encode("gb18030")
NOTE = "text/plain: read as 8bit: 72 bytes above 0x7f; charset gb18030, found by its bytes"


def test_what_was_read_otherwise_than_declared_is_said(spamnb):
    assert f"\n{NOTE}\n{CHINESE}" in spamnb("inspect", "-", stdin=LIE).succeeds().out.decode()
    page = parsed(message_page(explain(Model.open(spamnb.model), LIE), "-"))
    assert [words(each) for each in page.css(".part")] == [NOTE]
    true = b"Content-Type: text/plain; charset=gb18030\n\n" + CHINESE.encode("gb18030")
    assert b"text/plain:" not in spamnb("inspect", "-", stdin=true).succeeds().out.partition(b"\nevidence")[0]
