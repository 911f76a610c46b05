"""The page about a message: what is on it."""

import pytest
from helpers.pages import parsed, section, words

from spamnb.bayes.view import View
from spamnb.inspection.explanation import explain
from spamnb.inspection.in_words import MAX_REASONS
from spamnb.model import Model
from spamnb.pages.elements import shortened
from spamnb.pages.message_sections import message_page
from spamnb.pages.parts import TOKEN


def page(model, raw, path="box:3"):
    return message_page(explain(model, raw), path)


@pytest.fixture
def tree(spamnb, mail):
    return parsed(page(Model.open(spamnb.model), mail.messages["spam"]))


def test_verdict_score_and_cutoffs(tree, spamnb, mail):
    verdict = Model.open(spamnb.model).classify(mail.messages["spam"])
    assert words(tree.css_first("h1")) == "cheap pills 99"
    assert words(tree.css_first(".sentence")) == "Spam: the text reads like spam, the headers say little."
    reasons = tree.css(".reasons li")
    assert "links to casino.example in 13 spam and no other mail" in map(words, reasons)
    assert {one.css_first("span").attributes["class"] for one in reasons} == {"spam"}
    assert len(reasons) <= MAX_REASONS
    assert words(tree.css_first(".path")) == "box:3"
    figures = [words(one) for one in tree.css(".cards .figure")]
    assert not tree.css_first("details.numbers").attributes.get("open")
    assert figures[:2] == [f"{verdict.score:+.2f}", f"{verdict.probability:.4f}"]
    assert "not spam up to" in words(tree.css_first(".cards"))


def test_words_are_tinted_and_tell_their_counts(tree):
    viagra = next(one for one in tree.css(".text mark") if one.text() == "viagra")
    assert viagra.attributes["class"] == "spam"
    assert "viagra: 13 spam, +" in viagra.attributes["data-note"]
    assert 0.1 <= float(viagra.attributes["style"].removeprefix("--tint:")) <= 0.6
    described = [tree.css_first(f"#{one}") for one in viagra.attributes["aria-describedby"].split()]
    assert all(described)
    assert "viagra" in " ".join(words(one) for one in described)
    assert viagra.attributes["tabindex"] == "0"


def test_all_evidence_is_there_by_part(tree, spamnb, mail):
    why = explain(Model.open(spamnb.model), mail.messages["spam"])
    tables = section(tree, "Evidence by part")
    assert [one.text().partition(":")[0].lower() for one in tables.css("h3") if one.text()] == list(
        why.by_place()
    )
    listed = [one.text() for one in tables.css("tbody th code")]
    assert sorted(listed) == sorted(shortened(one.token, TOKEN) for one in why.reasons)


@pytest.mark.parametrize("name", ["spam", "unknown"])
@pytest.mark.parametrize("view", [View("bernoulli", 0.0), View("gaussian")])
def test_any_message_by_any_view(spamnb, three, mail, name, view):
    for path in (spamnb.model, three):
        tree = parsed(page(Model.open(path, view), mail.messages[name]))
        assert section(tree, "The message")
        assert "nan" not in words(tree.css_first("main"))


def test_a_flood_makes_no_flood(spamnb):
    flood = b"Subject: x\n\n" + b" ".join(b"viagra%d casino buy now" % n for n in range(50_000))
    assert len(page(Model.open(spamnb.model), flood)) < 3_000_000
