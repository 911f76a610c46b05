"""The page of an evaluation: what is on it."""

import numpy as np
import pytest
from helpers.evaluations import curve, evaluation, judged, mistake
from helpers.pages import parsed, section, words

from spamnb.report.evaluation_page import evaluation_page

MAX_FLOAT = 1.7976931348623157e308


def page(found=None, title="Evaluation", **changes):
    return parsed(evaluation_page(evaluation(found, **changes), title))


def cards(tree):
    return {
        each.css_first("dt").text(): words(each.css_first(".figure")) for each in tree.css(".cards > div")
    }


def test_headline_figures_have_intervals():
    whole = evaluation()
    tree = parsed(evaluation_page(whole))
    first = ["Accuracy", "Not spam lost", "Spam missed", "Unsure", "1 - AUC", "F1 of spam"]
    assert list(cards(tree)) == first
    assert cards(tree)["Not spam lost"] == f"{whole.metrics['ham_lost_percent']:.2f} %"
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
    for figure in ("accuracy", "expected_calibration_error"):
        assert f"{whole.metrics[figure]:.4f}" in text


def test_mistakes_show_path_subject_score_and_evidence():
    found = [mistake(), mistake(path="box", index=12, subject=" ", verdict="unsure", score=-MAX_FLOAT)]
    first, second = page(mistakes=found).css(".mistakes > li")
    assert words(first) == "not spam taken for spamscore +3.25Lunch?ham/1.emllunch −2.50free +4.00"
    assert words(second).startswith("not spam left unsurescore −∞no subjectbox:12")


@pytest.mark.parametrize(
    ("found", "listed", "said"), [(0, 0, "There were none."), (130, 100, "30 more are not shown.")]
)
def test_how_many_mistakes_there_are(found, listed, said):
    tree = page(mistakes=[mistake()] * found)
    assert len(tree.css(".mistakes > li")) == listed
    assert said in words(section(tree, "Worst mistakes"))


def test_a_large_evaluation_stays_small():
    long = [mistake(path="p" * 5000, subject="s" * 5000, evidence=[("t" * 500, 1.0)] * 50)] * 500
    whole = evaluation(judged(6000), mistakes=long, curve=curve(6000))
    assert len(evaluation_page(whole).encode()) < 300_000


def test_other_labels_leave_out_what_they_have_not():
    labels = ("work", "lists", "family <3")
    tree = page(judged(labels=labels), mistakes=[mistake(truth="work", verdict="lists")])
    assert list(cards(tree)) == ["Accuracy", "Unsure", "Macro F1"]
    assert [each.text() for each in tree.css("figure h3")] == ["Scores"]
    assert "lam %" not in words(tree.body)
    head = [words(each) for each in tree.css(".confusion thead th")]
    assert head == ["truly", *labels, "unsure"]
    assert {each.attributes["class"] for each in tree.css(".evidence li")} == {"quiet"}


@pytest.mark.parametrize("messages", [0, 1])
@pytest.mark.parametrize("labels", [("ham", "spam"), ("only",)])
def test_hardly_any_mail(messages, labels):
    tree = page(judged(messages, labels))
    assert "None" not in words(tree.body)
    assert "nan" not in words(tree.body)
    assert bool(tree.css("figure")) is bool(messages)


@pytest.mark.parametrize(
    "score",
    [
        np.full(400, MAX_FLOAT),
        np.where(np.arange(400) % 2, MAX_FLOAT, -MAX_FLOAT),
        np.append(np.linspace(0, 1, 399), 1e6),
    ],
    ids=["largest", "extremes", "one far out"],
)
@pytest.mark.parametrize("cutoffs", [None, (-MAX_FLOAT, MAX_FLOAT)])
def test_any_scores_are_drawn_in_their_frame(score, cutoffs):
    tree = page(judged(score=score, cutoffs=cutoffs))
    plot = tree.css("figure > svg")[1]
    bars = plot.css("rect.ham, rect.spam")
    assert 1 <= len(bars) <= 120
    for bar in bars:
        x, y, width, height = (float(bar.attributes[name]) for name in ("x", "y", "width", "height"))
        assert 39 <= x < x + width <= 351
        assert 20 <= y < y + height <= 229
