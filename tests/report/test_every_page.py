"""Every page in a file: it needs nothing, mail cannot become more than text, and it fits a phone."""

import base64

import pytest
from helpers.evaluations import curve, evaluation, hostile_evaluation
from helpers.pages import AS_TEXT, ATTACKS, WIDTHS, browse, measured, parsed, words
from helpers.programs import needs
from hypothesis import given
from hypothesis import strategies as st

from spamnb.inspection.explanation import explain
from spamnb.model import Model
from spamnb.pages.elements import element, untrusted, visible
from spamnb.pages.message_sections import message_page
from spamnb.report.evaluation_page import evaluation_page
from spamnb.training.learn import learn

KINDS = ("evaluation", "message")


def hostile_message():
    """Every attack in every place: headers, text, HTML, hidden text, links, names of parts."""
    everything = " viagra casino ".join(ATTACKS)

    def encoded(text):
        return base64.b64encode(text.encode("utf-8", "replace")).decode()

    head = f"From: {everything} <a@b.example>\nTo: {ATTACKS[0]}\nReply-To: {ATTACKS[5]}\n"
    head += f"Subject: =?utf-8?b?{encoded(everything)}?=\nX-{ATTACKS[3]}: {ATTACKS[1]}\n"
    head += "Content-Type: multipart/mixed; boundary=x\n\n"
    markup = f'<p>viagra</p><p hidden>{everything}</p><a href="http://{ATTACKS[2]}">{everything}</a>'
    body = f"--x\nContent-Type: text/plain; charset=utf-8\n\nbuy viagra now {everything}\n"
    body += "--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    body += encoded(markup) + "\n"
    body += f'--x\nContent-Type: image/png; name="{ATTACKS[4]}.png"\n\nx\n--x--\n'
    return (head + body).encode("utf-8", "replace")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def usual(kind, spamnb, mail):
    if kind == "evaluation":
        return evaluation_page(evaluation(curve=curve()))
    return message_page(explain(Model.open(spamnb.model), mail.messages["spam"]), "box:3")


@pytest.fixture
def hostile(kind, request):
    """A page of attacks; the model has learned the attacks themselves, so that they are evidence."""
    if kind == "evaluation":
        return evaluation_page(hostile_evaluation(), title=ATTACKS[2])
    own = request.getfixturevalue("own")
    for label, raw in (("spam", hostile_message()), ("ham", f"Subject: {ATTACKS[0]}\n\nx\n".encode())):
        learn(own, raw, label)
    return message_page(explain(Model.open(own), hostile_message()), ATTACKS[2])


def test_it_is_one_page_that_needs_nothing(usual):
    assert usual.startswith("<!doctype html>\n<html")
    tree = parsed(usual)
    assert not tree.css("script, link, img, iframe, object, embed, base, form, a")
    assert not [word for word in ("url(", "@import", "src=", "href=") if word in usual]
    policy = tree.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_mail_becomes_text_and_nothing_else(usual, hostile, kind):
    tree = parsed(hostile)
    kinds = {each.tag for each in tree.root.traverse()} - {each.tag for each in parsed(usual).root.traverse()}
    assert kinds <= {"br", "details", "summary", "line", "text", "i"}
    for node in tree.root.traverse():
        assert not [name for name in node.attributes if name.startswith("on") or name in ("href", "src")]
        assert "position" not in (node.attributes.get("style") or "")
    shown = "".join(each.text() for each in tree.css(".message" if kind == "message" else ".subject"))
    assert [attack for attack in AS_TEXT if attack not in shown] == []
    assert {char for char in shown if not char.isprintable()} <= {"\n"}
    assert AS_TEXT[2] in tree.css_first("title" if kind == "evaluation" else ".path").text()


@needs("chromedriver")
def test_no_script_runs_in_a_browser(tmp_path, hostile):
    """By escaping alone, without its policy."""
    tree = browse(tmp_path, hostile.replace("Content-Security-Policy", "X-Nothing"))
    assert not tree.css("script, img, iframe, a, link")
    assert tree.css_first("title").text() not in ("taken", "1")
    assert ATTACKS[0] in words(tree.body)


@needs("chromedriver")
def test_it_fits_a_phone_and_can_be_read_by_keyboard(tmp_path, hostile, kind):
    """Notes come with the focus, nothing overflows, and plots can be read."""
    for width, found in zip(WIDTHS, measured(tmp_path, hostile, WIDTHS), strict=True):
        assert (found["scroll"], found["out"]) == (width, [])
        assert found["notes"]
        assert (found["stops"] > 5) == (kind == "message")
        if kind == "evaluation":  # with plots
            assert 9 <= found["sizes"][0] <= found["sizes"][1] <= 18


@given(st.text(max_size=60) | st.text(alphabet="<>&\"'/\\=-!`sSvg\x00\x0b\u202e\u2028\ud800", max_size=60))
def test_any_text_comes_back_as_text(text):
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
def test_what_acts_unseen_is_replaced(text, shown):
    assert visible(text) == shown
