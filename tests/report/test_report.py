"""The page of an evaluation: what is on it, and what mail cannot do to it."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from helpers.browser import browse
from helpers.programs import needs
from helpers.tiers import only_long
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from spamnb.evaluation.metrics import measure
from spamnb.evaluation.results import CurvePoint, Evaluation, JudgedMessages, Mistake
from spamnb.inspection.model_summary import TellingToken
from spamnb.mailboxes.skipped import Unreadable
from spamnb.pages.elements import element, untrusted, visible
from spamnb.pages.formats import percent, short, signed, tick
from spamnb.pages.histogram import fitting_bins
from spamnb.pages.svg import Linear, Logarithmic, round_step
from spamnb.report.evaluation_page import evaluation_page

LARGEST = 1.7976931348623157e308
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "</style><script>document.title='taken'</script>",
    "\"'><svg onload=alert(1)>",
    "</title></svg><iframe src=javascript:alert(1)>",
    "<!-- ]]> &lt;b&gt; &#60;i&#62;",
    "\u202egnp.exe \u2066isolated \u200bzero\x00\x1b[31m\x85\ud800\ufeff",
    "W" * 3000,
    "a\u0301\u0302\u0303" * 300,
    "שלום עולם مرحبا",
]


def judged(messages=400, labels=("ham", "spam"), seed=1, **changes):
    random = np.random.default_rng(seed)
    truth = np.arange(messages) % len(labels)
    score = random.normal(4 * truth - 2, 1.5)
    probability = random.dirichlet(np.full(len(labels), 0.4), messages)
    verdict = np.where(random.random(messages) < 0.05, -1, probability.argmax(axis=1))
    if len(labels) == 2:
        verdict = np.where(score > 0.5, 1, np.where(score < -0.5, 0, -1))
        spam = 1 / (1 + np.exp(-2 * score))
        probability = np.stack([1 - spam, spam], axis=1)
    names: list[tuple[str, int | None]] = [(f"mail/{place}", None) for place in range(messages)]
    cutoffs = (-0.5, 0.5) if len(labels) == 2 else None
    return replace(
        JudgedMessages(tuple(labels), truth, verdict, score, probability, names, [], cutoffs), **changes
    )


def evaluation(found=None, **changes):
    found = found or judged()
    metrics = measure(found.labels, found.truth, found.verdict, found.score, found.probability, resamples=20)
    metrics["folds"] = 10
    whole = Evaluation("in 10 folds", found, metrics, [mistake()], 3, lambda: tokens(found.labels), [])
    return replace(whole, **changes)


def tokens(labels, words=("viagra", "subject:free")):
    messages = [place + 1 for place in range(len(labels))]
    return {name: [TellingToken(word, messages, 3.0 - k) for k, word in enumerate(words)] for name in labels}


def mistake(**changes):
    usual = Mistake("ham/1.eml", None, "Lunch?", "ham", "spam", 3.25, [("lunch", -2.5), ("free", 4.0)])
    return replace(usual, **changes)


def hostile():
    found = judged(unreadable=[Unreadable(text, text) for text in HOSTILE])
    return evaluation(
        found,
        how=HOSTILE[0],
        mistakes=[mistake(path=text, subject=text, evidence=[(text, 1.0)] * 20, index=7) for text in HOSTILE],
        telling=lambda: tokens(found.labels, HOSTILE),
        curve=curve(),
    )


def curve(points=1000):
    return [CurvePoint(n, 5 / n if n > 2 else None, 0.0, 50 / n, 100 / n) for n in range(1, points + 1)]


def parsed(page):
    return LexborHTMLParser(page)


def words(node):
    return " ".join(node.text().split())


def section(tree, name):
    return next(
        each for each in tree.css("section") if (head := each.css_first("h2")) and head.text() == name
    )


def cards(tree):
    return {
        each.css_first("dt").text(): words(each.css_first(".figure")) for each in tree.css(".cards > div")
    }


class TestContent:
    def test_is_one_page_that_needs_nothing(self):
        page = evaluation_page(evaluation(curve=curve()))
        assert page.startswith("<!doctype html>\n<html")
        tree = parsed(page)
        assert not tree.css("script, link, img, iframe, object, embed, base, form, a")
        assert not [word for word in ("http:", "https:", "url(", "@import", "src=") if word in page]
        policy = tree.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy

    def test_every_element_is_closed(self):
        class Balance(HTMLParser):
            open: list[str] = []

            def handle_starttag(self, tag, attrs):
                assert len({name for name, _ in attrs}) == len(attrs)
                if tag != "meta":
                    self.open.append(tag)

            def handle_endtag(self, tag):
                assert self.open.pop() == tag

        balance = Balance()
        balance.feed(evaluation_page(hostile()))
        balance.close()
        assert balance.open == []

    def test_headline_figures_have_intervals(self):
        whole = evaluation()
        tree = parsed(evaluation_page(whole))
        first = ["Accuracy", "Ham lost", "Spam missed", "Unsure", "1 - AUC", "F1 of spam"]
        assert list(cards(tree)) == first
        assert cards(tree)["Ham lost"] == f"{whole.metrics['ham_lost_percent']:.2f} %"
        assert cards(tree)["F1 of spam"] == f"{whole.metrics['labels']['spam']['f1']:.4f}"
        low, high = whole.metrics["intervals"]["accuracy"]
        assert words(tree.css_first(".cards .span")) == f"{low:.4f} to {high:.4f}"

    def test_tables_hold_the_metrics(self):
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
    def test_imbalance_is_explained(self, share, said):
        found = judged(truth=(np.arange(400) % share == 0).astype(int))
        note = parsed(evaluation_page(evaluation(found))).css_first(".note")
        assert bool(note) is said
        assert not said or "accuracy says little" in note.text()

    def test_plots_describe_themselves(self):
        tree = parsed(evaluation_page(evaluation(curve=curve())))
        plots = tree.css("figure > svg")
        assert len(plots) == 4
        for plot in plots:
            assert plot.attributes["role"] == "img"
            named = plot.attributes["aria-labelledby"].split()
            assert [tree.css_first(f"#{name}").text() for name in named]
            assert plot.attributes["viewbox" if "viewbox" in plot.attributes else "viewBox"].startswith(
                "0 0 360 "
            )

    def test_learning_is_drawn_only_where_there_is_a_curve(self):
        assert "Learning" not in evaluation_page(evaluation())
        tree = parsed(evaluation_page(evaluation(curve=curve())))
        assert [words(each) for each in tree.css(".legend li")] == [
            "wrong or unsure lately",
            "spam missed",
            "ham lost",
            "(1−AUC) %",
        ]
        drawn = tree.css("figure:last-child polyline")
        assert all(len(each.attributes["points"].split()) <= 302 for each in drawn)

    def test_a_series_that_is_nowhere_known_has_no_line(self):
        points = [CurvePoint(n, None, None, None, 0.0) for n in (1, 2)]
        tree = parsed(evaluation_page(evaluation(curve=points)))
        assert [words(each) for each in tree.css(".legend li")] == ["wrong or unsure lately"]
        assert len(tree.css("figure:last-child polyline")) == 1

    def test_mistakes_show_path_subject_score_and_evidence(self):
        found = [mistake(), mistake(path="box", index=12, subject=" ", verdict="unsure", score=-LARGEST)]
        first, second = parsed(evaluation_page(evaluation(mistakes=found))).css(".mistakes > li")
        assert words(first) == "ham taken for spamscore +3.25Lunch?ham/1.emllunch −2.50free +4.00"
        assert words(second).startswith("ham left unsurescore −1.8e+308no subjectbox:12")

    def test_no_mistakes(self):
        assert "There were none." in words(
            section(parsed(evaluation_page(evaluation(mistakes=[]))), "Worst mistakes")
        )

    def test_more_mistakes_than_a_page_holds_are_counted(self):
        tree = parsed(evaluation_page(evaluation(mistakes=[mistake()] * 130)))
        assert len(tree.css(".mistakes > li")) == 100
        assert "30 more are not shown." in words(section(tree, "Worst mistakes"))

    def test_tokens_have_bars_by_weight(self):
        first, second = parsed(evaluation_page(evaluation())).css_first(".tokens").css("li")
        assert words(first) == "viagra1 ham, 2 spam×20"
        assert first.css_first(".bar").attributes["style"] == "width:100.0%"
        assert words(second).endswith("×7.4")
        assert second.css_first(".bar").attributes["style"] == "width:66.7%"

    @pytest.mark.parametrize(
        ("many", "said"),
        [(0, "No message is"), (1, "1 message is an"), (2100, "2,100 messages are exact copies")],
    )
    def test_duplicates(self, many, said):
        assert said in words(section(parsed(evaluation_page(evaluation(duplicates=many))), "The mail"))

    @pytest.mark.parametrize(
        ("skipped", "words"),
        [(False, "already learned 1,234 of these messages"), (True, "Left out, because")],
    )
    def test_a_model_that_knows_the_mail(self, skipped, words):
        page = evaluation_page(evaluation(how="by a model", learned=1234, skipped=skipped))
        assert words in page
        assert "1,234" in page
        assert words not in evaluation_page(evaluation(how="by a model", learned=0, skipped=skipped))

    def test_unreadable_mail_is_listed(self):
        found = judged(unreadable=[Unreadable(f"box/{n}", "permission denied") for n in range(25)])
        text = words(section(parsed(evaluation_page(evaluation(found))), "The mail"))
        assert "25 messages could not be read: box/0: permission denied" in text.replace(
            "read:box", "read: box"
        )
        assert "and 5 more" in text

    def test_a_large_evaluation_stays_small(self):
        long = [mistake(path="p" * 5000, subject="s" * 5000, evidence=[("t" * 500, 1.0)] * 50)] * 500
        whole = evaluation(judged(6000), mistakes=long, curve=curve(6000))
        whole = replace(whole, telling=lambda: tokens(("ham", "spam"), ["w" * 500] * 500))
        assert len(evaluation_page(whole).encode()) < 300_000


class TestEdges:
    def test_other_labels_leave_out_what_they_have_not(self):
        labels = ("work", "lists", "family <3")
        tree = parsed(
            evaluation_page(
                evaluation(judged(labels=labels), mistakes=[mistake(truth="work", verdict="lists")])
            )
        )
        assert list(cards(tree)) == ["Accuracy", "Unsure", "Macro F1"]
        assert [each.text() for each in tree.css("figure h3")] == ["Scores", "Calibration"]
        assert "lam %" not in words(tree.body)
        head = [words(each) for each in tree.css(".confusion thead th")]
        assert head == ["truly", *labels, "unsure"]
        assert {each.attributes["class"] for each in tree.css(".evidence li")} == {"quiet"}

    def test_spam_among_many_labels(self):
        tree = parsed(evaluation_page(evaluation(judged(labels=("work", "spam", "lists")), mistakes=[])))
        assert "Not spam lost" in cards(tree)
        assert "ham" not in words(tree.body).lower()
        assert len(tree.css("figure")) == 3
        assert not tree.css(".cutoff")

    @pytest.mark.parametrize("messages", [0, 1, 2, 3])
    @pytest.mark.parametrize("labels", [("ham", "spam"), ("a", "b", "c"), ("only",)])
    def test_hardly_any_mail(self, messages, labels):
        tree = parsed(evaluation_page(evaluation(judged(messages, labels))))
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
    @pytest.mark.parametrize(
        "cutoffs", [None, (-0.5, 0.5), (-LARGEST, LARGEST), (-np.inf, np.inf), (3.0, 3.0)]
    )
    def test_any_scores_are_drawn_in_their_frame(self, score, cutoffs):
        tree = parsed(evaluation_page(evaluation(judged(score=score, cutoffs=cutoffs))))
        plot = tree.css("figure > svg")[1]
        bars = plot.css("rect.ham, rect.spam")
        assert 1 <= len(bars) <= 120
        for bar in bars:
            x, y, width, height = (float(bar.attributes[name]) for name in ("x", "y", "width", "height"))
            assert 39 <= x < x + width <= 351
            assert 20 <= y < y + height <= 229

    def test_no_message_is_lost_from_the_histogram(self):
        score = np.append(np.linspace(-3, 3, 398), [LARGEST, -LARGEST])
        bars = (
            parsed(evaluation_page(evaluation(judged(score=score))))
            .css("figure > svg")[1]
            .css("rect.ham, rect.spam")
        )
        assert sum(int(bar.css_first("title").text().split()[0]) for bar in bars) == 400

    @given(
        st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40),
        st.lists(st.floats(-1e12, 1e12), max_size=2),
    )
    def test_an_axis_has_a_sensible_number_of_bars(self, scores, marks):
        bars = fitting_bins(np.array(scores), sorted(marks))
        assert 1 <= bars.bin_count <= 60
        assert sum(bars.counts(np.array(scores))) == len(scores)


class TestHostileMail:
    def test_nothing_becomes_markup(self):
        plain, page = parsed(evaluation_page(evaluation(curve=curve()))), parsed(evaluation_page(hostile()))
        kinds = {each.tag for each in page.root.traverse()}
        assert kinds - {each.tag for each in plain.root.traverse()} == set()
        for node in page.root.traverse():
            assert not [name for name in node.attributes if name.startswith("on")]

    def test_it_is_shown_as_text(self):
        tree = parsed(evaluation_page(hostile()))
        subjects = [each.text() for each in tree.css(".subject")]
        assert subjects[:6] == HOSTILE[:6]
        assert tree.css_first("header .lead").text().endswith(HOSTILE[0])

    def test_the_title_too(self):
        tree = parsed(evaluation_page(evaluation(), title=HOSTILE[4]))
        assert tree.css_first("title").text() == HOSTILE[4]
        assert tree.css_first("h1").text() == HOSTILE[4]

    def test_labels_too(self):
        tree = parsed(evaluation_page(evaluation(judged(labels=(HOSTILE[0], "spam", "x\u202ey")))))
        assert not tree.css("script")
        assert [words(each) for each in tree.css(".confusion tbody th")] == [HOSTILE[0], "spam", "x\ufffdy"]

    def test_long_text_is_cut_and_a_path_keeps_its_end(self):
        found = parsed(
            evaluation_page(evaluation(mistakes=[mistake(subject="s" * 999, path="p" * 999 + "/1.eml")]))
        )
        assert found.css_first(".subject").text() == "s" * 159 + "…"
        path = found.css_first(".path").text()
        assert path.startswith("…p")
        assert path.endswith("/1.eml")
        assert len(path) == 400

    @given(
        st.text(max_size=60) | st.text(alphabet="<>&\"'/\\=-!`sSvg\x00\x0b\u202e\u2028\ud800", max_size=60)
    )
    def test_any_text_comes_back_as_text(self, text):
        page = element("p", untrusted(text, 100), title=text)
        page.encode()
        node = parsed(page).css_first("p")
        assert node.text() == visible(text)
        assert (node.attributes["title"] or "") == visible(text)
        assert page.count("<") == 4

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("plain ü € 漢字 שלום", "plain ü € 漢字 שלום"),
            ("می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"),
            ("a\tb\r\nc\u00a0d\u2028e", "a b  c d e"),
            ("\x00\x1b\x7f\x9f", "\ufffd" * 4),
            ("\u202a\u202e\u2066\u2069\u200f\u061c", "\ufffd" * 6),
            ("\ud800\ufeff\u200b\U000e0041", "\ufffd" * 4),
        ],
    )
    def test_what_acts_unseen_is_replaced(self, text, shown):
        assert visible(text) == shown


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (percent, None, "–"),
        (percent, 0.0, "0"),
        (percent, 0.00004, "0.0000"),
        (percent, 0.0723, "0.0723"),
        (percent, 0.949, "0.949"),
        (percent, 31.256, "31.26"),
        (percent, 100.0, "100.00"),
        (signed, -2.5, "−2.50"),
        (signed, LARGEST, "+1.8e+308"),
        (short, 999, "999"),
        (short, 1000, "1k"),
        (short, 4149, "4.1k"),
        (short, 99_999, "100k"),
        (tick, -0.5, "−0.5"),
        (tick, 12_000.0, "12,000"),
    ],
)
def test_figures_as_a_person_reads_them(form, value, text):
    assert form(value) == text


def test_scales():
    assert [round_step(step) for step in (0.7, 1, 1.1, 3, 6e-5, 7e8)] == pytest.approx(
        [1, 1, 2, 5, 1e-4, 1e9]
    )
    assert Linear(0, 10, 0, 100).at(2.5) == 25
    assert Linear(-1, 1, 0, 1).ticks == [-1, -0.5, 0, 0.5, 1]
    decades = Logarithmic(0.1, 10, 0, 240)
    assert [decades.at(value) for value in (0, 0.001, 0.1, 1, 10)] == pytest.approx([0, 0, 40, 140, 240])
    assert decades.ticks == [0, 0.1, 1, 10]


@pytest.mark.slow
@needs("chromium")
@pytest.mark.parametrize(
    "policy",
    [pytest.param(True, id="with its policy", marks=only_long), pytest.param(False, id="by escaping alone")],
)
def test_no_script_runs_in_a_browser(tmp_path, policy):
    page = evaluation_page(hostile(), title=HOSTILE[2])
    if not policy:
        page = page.replace("Content-Security-Policy", "X-Nothing")
    tree = parsed(browse(tmp_path, page))
    assert not tree.css("script, img, iframe")
    assert tree.css_first("title").text() == HOSTILE[2]
    assert HOSTILE[0] in [each.text() for each in tree.css(".subject")]


MEASURE = """<!doctype html><body>{frames}<pre></pre><script>onload = () => {{
  const side = each => each.getBoundingClientRect();
  const found = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, wide = page.documentElement.clientWidth;
    const out = [...page.body.querySelectorAll("*")].filter(each => !each.closest(".scroll, svg"))
      .filter(each => side(each).right > wide + 1 || side(each).left < -1);
    const sizes = [...page.querySelectorAll("figure text")].map(
      each => parseFloat(getComputedStyle(each).fontSize) * each.ownerSVGElement.getScreenCTM().a);
    return {{
      cut: [...page.querySelectorAll(".scroll")].filter(each => each.scrollWidth > each.clientWidth).length,
      scroll: page.documentElement.scrollWidth, out: out.map(each => each.outerHTML.slice(0, 99)),
      sizes: [Math.min(...sizes), Math.max(...sizes)]}};
  }});
  document.querySelector("pre").textContent = JSON.stringify(found);
}}</script>"""
FRAME = '<iframe style="border:0;width:{width}px;height:800px" srcdoc="{page}"></iframe>'


@pytest.mark.slow
@needs("chromium")
def test_nothing_overflows_and_plots_can_be_read(tmp_path):
    """In frames as wide as a phone, a tablet and a desk: a window cannot be that narrow everywhere."""
    widths, page = (360, 800, 1400), escape(evaluation_page(hostile(), title="W" * 500))
    frames = "".join(FRAME.format(width=width, page=page) for width in widths)
    frames += FRAME.format(width=1000, page=escape(evaluation_page(evaluation(judged()))))
    tree = parsed(browse(tmp_path, MEASURE.format(frames=frames), "--hide-scrollbars"))
    found = json.loads(unescape(tree.css_first("pre").text()))
    assert found.pop()["cut"] == 0
    for width, each in zip(widths, found, strict=True):
        assert each["scroll"] == width
        assert each["out"] == []
        assert 9 <= each["sizes"][0] <= each["sizes"][1] <= 18
