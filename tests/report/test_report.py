"""The page of an evaluation: what is on it."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.evaluations import curve, evaluation, judged, mistake, tokens
from helpers.pages import ATTACKS, parsed, section, words
from hypothesis import given
from hypothesis import strategies as st

from spamnb.mailboxes.skipped import Unreadable
from spamnb.pages.histogram import fitting_bins
from spamnb.report.evaluation_page import evaluation_page

LARGEST = 1.7976931348623157e308


def page(found=None, title="Evaluation", **changes):
    return parsed(evaluation_page(evaluation(found, **changes), title))


def cards(tree):
    return {
        each.css_first("dt").text(): words(each.css_first(".figure")) for each in tree.css(".cards > div")
    }


def test_headline_figures_have_intervals():
    whole = evaluation()
    tree = parsed(evaluation_page(whole))
    first = ["Accuracy", "Ham lost", "Spam missed", "Unsure", "1 - AUC", "F1 of spam"]
    assert list(cards(tree)) == first
    assert cards(tree)["Ham lost"] == f"{whole.metrics['ham_lost_percent']:.2f} %"
    assert cards(tree)["F1 of spam"] == f"{whole.metrics['labels']['spam']['f1']:.4f}"
    low, high = whole.metrics["intervals"]["accuracy"]
    assert words(tree.css_first(".cards .span")) == f"{low:.4f} to {high:.4f}"


def test_tables_hold_the_metrics():
    whole = evaluation()
    tree = parsed(evaluation_page(whole))
    text = words(section(tree, "In numbers"))
    cells = [int(each.text(deep=False)) for each in tree.css(".confusion td")]
    assert cells == [many for row in whole.metrics["confusion"].values() for many in row.values()]
    for name in ("ham", "spam"):
        for figure in ("precision", "recall", "f1"):
            assert f"{whole.metrics['labels'][name][figure]:.4f}" in text
    for figure in ("accuracy", "log_loss", "brier"):
        assert f"{whole.metrics[figure]:.4f}" in text


@pytest.mark.parametrize(("share", "said"), [(20, True), (2, False)])
def test_imbalance_is_explained(share, said):
    found = judged(truth=(np.arange(400) % share == 0).astype(int))
    note = page(found).css_first(".note")
    assert bool(note) is said
    assert not said or "accuracy says little" in note.text()


def test_plots_describe_themselves():
    tree = page(curve=curve())
    plots = tree.css("figure > svg")
    assert len(plots) == 4
    for plot in plots:
        assert plot.attributes["role"] == "img"
        named = plot.attributes["aria-labelledby"].split()
        assert [tree.css_first(f"#{name}").text() for name in named]
        assert plot.attributes["viewBox"].startswith("0 0 360 ")


def test_learning_is_drawn_only_where_there_is_a_curve():
    assert "Learning" not in evaluation_page(evaluation())
    tree = page(curve=curve())
    named = [words(each) for each in tree.css(".legend li")]
    assert named == ["wrong or unsure lately", "spam missed", "ham lost", "(1−AUC) %"]
    drawn = tree.css("figure:last-child polyline")
    assert all(len(each.attributes["points"].split()) <= 302 for each in drawn)


def test_mistakes_show_path_subject_score_and_evidence():
    found = [mistake(), mistake(path="box", index=12, subject=" ", verdict="unsure", score=-LARGEST)]
    first, second = page(mistakes=found).css(".mistakes > li")
    assert words(first) == "ham taken for spamscore +3.25Lunch?ham/1.emllunch −2.50free +4.00"
    assert words(second).startswith("ham left unsurescore −∞no subjectbox:12")


@pytest.mark.parametrize(
    ("found", "listed", "said"), [(0, 0, "There were none."), (130, 100, "30 more are not shown.")]
)
def test_how_many_mistakes_there_are(found, listed, said):
    tree = page(mistakes=[mistake()] * found)
    assert len(tree.css(".mistakes > li")) == listed
    assert said in words(section(tree, "Worst mistakes"))


def test_tokens_have_bars_by_weight():
    first, second = page().css_first(".tokens").css("li")
    assert words(first) == "viagra1 ham, 2 spam×20"
    assert first.css_first(".bar").attributes["style"] == "width:100.0%"
    assert words(second).endswith("×7.4")
    assert second.css_first(".bar").attributes["style"] == "width:66.7%"


def test_a_model_that_knows_the_mail():
    said = "Left out, because the model has already learned them: 1,234 messages"
    assert said in evaluation_page(evaluation(how="by a model", learned=1234))
    assert "Left out" not in evaluation_page(evaluation(how="by a model", learned=0))


def test_unreadable_mail_is_listed():
    found = judged(unreadable=[Unreadable(f"box/{n}", "permission denied") for n in range(25)])
    text = words(section(page(found), "The mail"))
    assert "25 messages could not be read:" in text
    assert "box/19: permission denied" in text


def test_a_large_evaluation_stays_small():
    long = [mistake(path="p" * 5000, subject="s" * 5000, evidence=[("t" * 500, 1.0)] * 50)] * 500
    whole = evaluation(judged(6000), mistakes=long, curve=curve(6000))
    whole = replace(whole, telling=lambda: tokens(("ham", "spam"), ["w" * 500] * 500))
    assert len(evaluation_page(whole).encode()) < 300_000


def test_hostile_labels():
    tree = page(judged(labels=(ATTACKS[0], "spam", "x\u202ey")))
    assert not tree.css("script")
    assert [words(each) for each in tree.css(".confusion tbody th")] == [ATTACKS[0], "spam", "x\ufffdy"]


def test_long_text_is_cut_and_a_path_keeps_its_end():
    found = page(mistakes=[mistake(subject="s" * 999, path="p" * 999 + "/1.eml")])
    assert found.css_first(".subject").text() == "s" * 159 + "…"
    path = found.css_first(".path").text()
    assert path.startswith("…p")
    assert path.endswith("/1.eml")
    assert len(path) == 400


def test_other_labels_leave_out_what_they_have_not():
    labels = ("work", "lists", "family <3")
    tree = page(judged(labels=labels), mistakes=[mistake(truth="work", verdict="lists")])
    assert list(cards(tree)) == ["Accuracy", "Unsure", "Macro F1"]
    assert [each.text() for each in tree.css("figure h3")] == ["Scores", "Calibration"]
    assert "lam %" not in words(tree.body)
    head = [words(each) for each in tree.css(".confusion thead th")]
    assert head == ["truly", *labels, "unsure"]
    assert {each.attributes["class"] for each in tree.css(".evidence li")} == {"quiet"}


def test_spam_among_many_labels():
    tree = page(judged(labels=("work", "spam", "lists")), mistakes=[])
    assert "Not spam lost" in cards(tree)
    assert "ham" not in words(tree.body).lower()
    assert len(tree.css("figure")) == 3
    assert not tree.css(".cutoff")


@pytest.mark.parametrize("messages", [0, 1, 2, 3])
@pytest.mark.parametrize("labels", [("ham", "spam"), ("a", "b", "c"), ("only",)])
def test_hardly_any_mail(messages, labels):
    tree = page(judged(messages, labels))
    assert "None" not in words(tree.body)
    assert "nan" not in words(tree.body)
    assert bool(tree.css("figure")) is bool(messages)


@pytest.mark.parametrize(
    "score",
    [
        np.zeros(400),
        np.full(400, LARGEST),
        np.where(np.arange(400) % 2, LARGEST, -LARGEST),
        np.where(np.arange(400) % 7, 1e-9, 2e-9),
        np.linspace(-4e4, 4e4, 400),
        np.append(np.linspace(0, 1, 399), 1e6),
    ],
    ids=["alike", "largest", "extremes", "tiny", "wide", "one far out"],
)
@pytest.mark.parametrize("cutoffs", [None, (-0.5, 0.5), (-LARGEST, LARGEST), (-np.inf, np.inf), (3.0, 3.0)])
def test_any_scores_are_drawn_in_their_frame(score, cutoffs):
    tree = page(judged(score=score, cutoffs=cutoffs))
    plot = tree.css("figure > svg")[1]
    bars = plot.css("rect.ham, rect.spam")
    assert 1 <= len(bars) <= 120
    for bar in bars:
        x, y, width, height = (float(bar.attributes[name]) for name in ("x", "y", "width", "height"))
        assert 39 <= x < x + width <= 351
        assert 20 <= y < y + height <= 229


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40),
    st.lists(st.floats(-1e12, 1e12), max_size=2),
)
def test_an_axis_has_a_sensible_number_of_bars(scores, marks):
    bars = fitting_bins(np.array(scores), sorted(marks))
    assert 1 <= bars.bin_count <= 60
    assert sum(bars.counts(np.array(scores))) == len(scores)
