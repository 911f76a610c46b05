"""Why a message is judged as it is, in words for people: what is said, and what is never shown."""

import pytest
from helpers.learning import train_bulk
from helpers.pages import ATTACKS
from helpers.samples import ham, spam
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import read
from spamnb.inspection.explanation import explain
from spamnb.inspection.in_words import MAX_REASONS, is_plain_word, labels_in_question, reason, short_reasons
from spamnb.model import Model
from spamnb.pages.colours import colour_of_weight


def texts(model, raw):
    """All that is said of a message, in a row and on its page."""
    message = read(raw)
    features = model.features(message)
    score = model.score(features)
    row = short_reasons(model, message, features, score, model.decide(score))
    why = explain(model, raw)
    assert len(row) <= 2
    assert len(why.in_words) <= MAX_REASONS
    return [why.sentence, *map(str, why.in_words), *row]


@pytest.fixture(scope="module")
def judge(spamnb):
    return Model.open(spamnb.model)


@pytest.mark.parametrize(
    ("name", "sentence", "said"),
    [
        (
            "ham",
            "Not spam: text and headers are like mail you keep.",
            "says “tuesday”, “project”, the first in 14 messages you",
        ),
        (
            "spam",
            "Spam: the text reads like spam, the headers say little.",
            "links to casino.example, in 13 spam and no",
        ),
        (
            "unsure",
            "Unsure: the text reads somewhat like mail you keep, the headers say little.",
            "says “tuesday”, “project”",
        ),
        ("unknown", "Unsure: little in it speaks for spam or for mail you keep.", ""),
    ],
)
def test_what_is_said(judge, mail, name, sentence, said):
    first, *others = texts(judge, mail.messages[name])
    assert first == sentence
    assert said in " ".join(others)


def test_several_labels(three, mail):
    model = Model.open(three)
    assert texts(model, mail.messages["work"])[0] == "Work: text and headers are like mail you keep."
    both = mail.messages["work"].partition(b"\n\n")[0] + b"\n\n" + mail.messages["ham"].partition(b"\n\n")[2]
    assert model.cutoffs
    model.cutoffs.margin = 5.0  # neither label is ahead by as much
    assert texts(model, both)[0] == "Unsure: not spam, but as much like mail in work as like mail you keep."


def test_colours_mean_spam_or_not_spam(three, mail):
    model = Model.open(three)
    about_spam = explain(model, mail.messages["spam"])
    assert [colour_of_weight(about_spam, weight) for weight in (-1, 1)] == ["ham", "spam"]
    head, body = (mail.messages[name].partition(b"\n\n") for name in ("work", "ham"))
    which_folder = explain(model, head[0] + b"\n\n" + body[2])
    assert [colour_of_weight(which_folder, weight) for weight in (-1, 1)] == ["quiet", "ham"]


def test_is_it_spam_of_several_labels(three, mail):
    """Spam is one side, though two other labels are likelier."""
    model = Model.open(three)
    parts = [mail.messages[name].partition(b"\n\n")[2] for name in ("ham", "work", "spam")]
    message = read(b"\n\n" + b"".join(parts))
    features = model.features(message)
    score = model.score(features)
    verdict = model.decide(score)
    verdict.label, verdict.is_spam = "unsure", None
    assert "spam" in reason(model, score, verdict)
    assert "spam" in [score.labels[k] for k in labels_in_question(score, verdict)]


def test_a_list_decided(judge, mail):
    verdict = judge.classify(mail.messages["spam"])
    message = read(mail.messages["spam"])
    features = judge.features(message)
    verdict.label, verdict.reason = "ham", "allowed=win@casino.example"
    row = short_reasons(judge, message, features, judge.score(features), verdict)
    assert row[0] == "its sender is on your list of allowed senders"


@pytest.fixture
def learned(tmp_path):
    """Learn messages of ham and of spam; there are enough for cutoffs."""

    def learn(ham, spam):
        labelled = [(raw, "ham") for raw in ham] + [(raw, "spam") for raw in spam]
        return Model.open(train_bulk(str(tmp_path), labelled))

    return learn


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (
            b"Reply-To: other@elsewhere.example\n",
            "replies go to another domain, in 20 spam and no other mail",
        ),
        (b"Authentication-Results: mx.example; dkim=fail\n", "proof of the sender as in spam"),
        (b"Content-Type: text/html; charset=big5\n", "kinds of its parts as in spam"),
        (b"X-Mailer: Bulk 7000\n", "mail program as in spam"),
    ],
)
def test_what_headers_say(learned, head, said):
    """What all spam has, and nothing else tells it apart."""
    model = learned([ham(n) for n in range(20)], [head + ham(n) for n in range(20, 40)])
    assert said in texts(model, head + ham(99))


def test_text_and_headers_contradict_each_other(learned):
    model = learned([ham(n) for n in range(20)], [spam(n) for n in range(20)])
    spammy, good = (raw.partition(b"\n\n") for raw in (spam(99), ham(99)))
    found = texts(model, b"".join([*spammy[:2], good[2]]))
    assert found[0] == "Unsure: the text reads like mail you keep, the headers like spam."
    assert found[-2] == "text like mail you keep, headers like spam"  # in a row, shorter


SECRETS = ("geheimwort", "hunter2", "493021", "abcdefghij", "1234", "+4930", "unsichtbar")
SECRET = b"""Content-Type: text/html

<p>your password is hunter2 and the code 493021, call +4930123456
<a href="https://example.top/reset/abcdefghij?token=geheimwort">here</a> carol@example.org
<div style="display:none">geheimwort unsichtbar</div>"""


def test_no_secret_is_shown(learned):
    """Not even what all messages of a label have."""
    spammy = [ham(n).partition(b"\n\n")[0] + b"\n" + SECRET for n in range(20, 40)]
    model = learned([ham(n) for n in range(20)], spammy)
    said = " ".join(texts(model, spammy[-1].replace(b"notes 39", b"notes 99")))
    assert "“password”" in said
    assert "links to example.top" in said
    assert [secret for secret in SECRETS if secret in said] == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_mail(spamnb, own, attack):
    for raw in (spam(1).replace(b"viagra", attack.encode()), attack.encode() * 9):
        spamnb("train", "--model", own, "--spam", "-", stdin=raw).succeeds()
        for text in texts(Model.open(own), raw):
            assert text.isprintable()
            assert len(text) < 200


@given(st.binary(max_size=300), st.sampled_from([ham(1), spam(1)]))
def test_any_bytes(judge, data, raw):
    for text in texts(judge, raw[:40] + data + raw[40:]):
        assert text.isprintable()


@pytest.mark.parametrize(
    "word", ["meeting", "don't", "toll-free", "信用", "हिन्दी", "ภาษา", "größe", "виагра"]
)
def test_words_that_are_quoted(word):
    assert is_plain_word(word)


@pytest.mark.parametrize(
    "word", ["the", "v1agra", "x" * 30, "a\u202eb", "信", "１２３", "subject:word", "<b>", "a b", ""]
)
def test_words_that_are_not_quoted(word):
    assert not is_plain_word(word)
