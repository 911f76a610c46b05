"""Recipes written for bogofilter or SpamAssassin find the headers they look for."""

import re

import pytest
from helpers.passthrough import ODD, check
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.bayes.verdict import REQUIRED, Cutoffs, Verdict
from spamnb.passthrough import STYLES, passed_through

HAM, SPAM, UNSURE = (
    Verdict(label, score, probability, {}, [], Cutoffs(0.25, 1.0))
    for label, score, probability in (("ham", -4.0, 0.01), ("spam", 3.25, 0.97), ("unsure", 0.5, 0.6))
)
# As the programs wrote them: bogofilter 1.2.5, SpamAssassin 4.0.1.
BOGOSITY = r"^X-Bogosity: (Spam|Ham|Unsure), tests=bogofilter, spamicity=[01]\.\d{6}, version=\S+$"
STATUS = (
    r"^X-Spam-Status: (Yes|No), score=(-?\d+\.\d) required=(\d+\.\d) tests=\S+"
    r" autolearn=\S+ autolearn_force=\S+ version=\S+$"
)


def added_headers(verdict, style):
    """The lines before the message."""
    head = passed_through(b"Subject: x\n\nbody\n", verdict, style).decode()
    return head.partition("Subject: x\n")[0].splitlines()


@pytest.mark.parametrize(
    ("verdict", "word", "spamicity"), [(HAM, "Ham", 0.01), (SPAM, "Spam", 0.97), (UNSURE, "Unsure", 0.6)]
)
def test_bogofilters_header(verdict, word, spamicity):
    (line,) = added_headers(verdict, "bogofilter")
    assert re.findall(BOGOSITY, line) == [word]
    assert f"spamicity={spamicity:.6f}" in line


NO_END = Verdict("spam", 1e300, 1.0, {}, [], Cutoffs(0.0, 1.0))


@pytest.mark.parametrize(
    ("verdict", "stars", "said", "score"),
    [(HAM, 0, "No", "0.0"), (UNSURE, 4, "No", "4.5"), (SPAM, 7, "Yes", "7.2"), (NO_END, 50, "Yes", None)],
)
def test_spamassassins_headers(verdict, stars, said, score):
    *flag, level, status = added_headers(verdict, "spamassassin")
    assert flag == (["X-Spam-Flag: YES"] if said == "Yes" else [])
    assert level == "X-Spam-Level: " + stars * "*"
    if score:
        assert re.findall(STATUS, status) == [(said, score, "5.0")]


@pytest.mark.parametrize(
    ("label", "is_spam", "said"),
    [
        ("Work", False, "ham; label=Work"),
        ("Büro; 100%", False, "ham; label=B%C3%BCro%3B 100%25"),
        ("unsure", None, "unsure"),
    ],
)
def test_ham_and_the_label(label, is_spam, said):
    verdict = Verdict(label, -2.0, 0.1, dict.fromkeys(("ham", "spam", "Work", "Büro; 100%"), 0.2), [])
    verdict.is_spam = is_spam
    assert added_headers(verdict, "spamnb") == [f"X-Spamnb: {said}; score=-2.0000; probability=0.1000"]


scores = st.floats(allow_nan=False, allow_infinity=False)


@given(scores, scores, scores)
@example(0.1 + 0.2, 0.0, 0.3)
@example(0.0, 0.0, 5e-324)
@example(1.0, 1.0, 1.0)
def test_five_points_are_the_cutoff(score, ham, spam):
    cutoffs = Cutoffs(min(ham, spam), max(ham, spam))
    verdict = Verdict(cutoffs.verdict(score), score, 0.5, {}, [], cutoffs)
    assert (verdict.points >= REQUIRED) == (verdict.label == "spam")
    assert (float(f"{verdict.points:.1f}") >= 5.0) == (verdict.label == "spam")


def test_points_without_cutoffs():
    """A textbook's model has none, and neither has one of too little mail."""
    assert Verdict("spam", 3.0, 0.9, {}, []).points == 8.0
    assert Verdict("unsure", 3.0, 0.9, {}, [], Cutoffs()).points == 4.9
    assert Verdict("ham", -3.0, 0.1, {}, []).points == 2.0


def renamed(data, name):
    """With another name where ours was."""
    for ours in (b"X-Spamnb", b"x-spamnb", b"X-SPAMNB", b"x-SpAmNb"):
        data = data.replace(ours, name.upper() if ours.isupper() else name)
    return data


@pytest.mark.parametrize(("style", "name"), [("bogofilter", b"X-Bogosity"), ("spamassassin", b"X-Spam-Flag")])
def test_every_other_byte_stays_and_nothing_forged(style, name):
    """As with our own header, which test_passthrough holds to it."""
    for raw in (renamed(raw, name) for raw in ODD.values() if len(raw) < 100_000):
        newline = b"\r\n" if raw.count(b"\n") == raw.count(b"\r\n") > 0 else b"\n"
        ours = newline.join([*(line.encode() for line in added_headers(SPAM, style)), b""])
        check(raw, passed_through(raw, SPAM, style), ours, STYLES[style][0])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("message", ["ham", "spam", "unsure"])
def test_the_program_writes_them(spamnb, mail, style, message):
    raw = mail.messages[message]
    call = ("classify", "-p", "-e", "--header-style", style)
    fast = spamnb.afresh(*call, stdin=raw).succeeds({"spam": 0, "ham": 1, "unsure": 2}[message])
    slow = spamnb("classify", "-p", f"--header-style={style}", stdin=raw).succeeds()
    assert fast.out == slow.out
    assert fast.out.endswith(raw)
    word = {"spamnb": message, "bogofilter": message.capitalize()}.get(
        style, "Yes" if message == "spam" else "No"
    )
    assert re.search(rf"^X-(Spamnb|Bogosity|Spam-Status): {word}[;,] ", fast.out.decode(), re.MULTILINE)


def test_it_is_about_the_header_of_a_message_passed_on(spamnb):
    spamnb("classify", "--header-style", "bogofilter").fails(64, "--header-style", "-p")
    spamnb("classify", "-p", "--header-style", "bogus").fails(64, "--header-style", "bogofilter")
    spamnb("classify", "-p", "--header-style").fails(64, "--header-style")
