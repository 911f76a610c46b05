"""The page about a message: what is on it, and what the message cannot do to it."""

import base64
import json
from html import escape, unescape
from html.parser import HTMLParser

import pytest
from helpers.browser import browse
from helpers.programs import needs
from helpers.tiers import only_long
from selectolax.lexbor import LexborHTMLParser

from spamnb.bayes.view import View
from spamnb.inspection.explanation import explain
from spamnb.model import Model
from spamnb.report.message_page import message_page
from spamnb.training.learn import learn

ATTACKS = [
    "<script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "</title></style><script>document.title='taken'</script>",
    "\"'><svg onload=document.title='taken'>",
    "</mark></div><iframe src=javascript:alert(1)></iframe>",
    "' style='position:fixed;inset:0' onmouseover='document.title=1'",
    "<a href='http://tracker.example/?x'>click</a><link rel=stylesheet href=//evil.example>",
    "\u202egnp.exe\u2066\u200b\x00\x1b[31m\x85\ufeff",
    "W" * 3000,
    "a\u0301\u0302\u0303" * 300,
    "שלום עולם مرحبا",
]


def hostile():
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


@pytest.fixture
def taught(own):
    """A model that has learned the attacks themselves, so that they are evidence."""
    for label, text in (("spam", hostile()), ("ham", b"Subject: " + ATTACKS[0].encode() + b"\n\nnothing\n")):
        learn(own, text, label)
    return Model.open(own)


def page(model, raw, path="box:3"):
    return message_page(explain(model, raw), path)


def parsed(text):
    return LexborHTMLParser(text)


def words(node):
    return " ".join(node.text().split())


def section(tree, name):
    return next(one for one in tree.css("section") if (head := one.css_first("h2")) and head.text() == name)


class TestContent:
    @pytest.fixture
    def tree(self, spamnb, mail):
        return parsed(page(Model.open(spamnb.model), mail.messages["spam"]))

    def test_is_one_page_that_needs_nothing(self, spamnb, mail):
        text = page(Model.open(spamnb.model), mail.messages["spam"])
        tree = parsed(text)
        assert not tree.css("script, link, img, iframe, object, embed, base, form, a")
        assert not [word for word in ("url(", "@import", "src=", "href=") if word in text]
        policy = tree.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy

    def test_every_element_is_closed(self, taught):
        class Balance(HTMLParser):
            open: list[str] = []

            def handle_starttag(self, tag, attrs):
                assert len({name for name, _ in attrs}) == len(attrs)
                if tag not in ("meta", "br"):
                    self.open.append(tag)

            def handle_endtag(self, tag):
                assert self.open.pop() == tag

        balance = Balance()
        balance.feed(page(taught, hostile()))
        balance.close()
        assert balance.open == []

    def test_verdict_score_and_cutoffs(self, tree, spamnb, mail):
        verdict = Model.open(spamnb.model).classify(mail.messages["spam"])
        assert words(tree.css_first("h1")) == "spam: cheap pills 99"
        assert words(tree.css_first(".path")) == "box:3"
        figures = [words(one) for one in tree.css(".cards .figure")]
        assert figures[:2] == [f"{verdict.score:+.2f}", f"{verdict.probability:.4f}"]
        assert "ham up to" in words(tree.css_first(".cards"))

    def test_words_are_tinted_and_tell_their_counts(self, tree):
        viagra = next(one for one in tree.css(".text mark") if one.text() == "viagra")
        assert viagra.attributes["class"] == "spam"
        assert "viagra: 13 spam, +" in viagra.attributes["data-note"]
        assert 0.1 <= float(viagra.attributes["style"].removeprefix("--tint:")) <= 0.6
        described = [tree.css_first(f"#{one}") for one in viagra.attributes["aria-describedby"].split()]
        assert all(described)
        assert "viagra" in " ".join(words(one) for one in described)
        assert viagra.attributes["tabindex"] == "0"

    def test_a_word_is_a_stop_of_the_keyboard_once(self, spamnb):
        tree = parsed(page(Model.open(spamnb.model), b"Subject: x\n\nviagra. viagra. viagra."))
        marks = [one for one in tree.css(".text mark") if one.text() == "viagra"]
        assert len(marks) == 3
        assert ["tabindex" in one.attributes for one in marks].count(True) == len(
            {one.attributes["data-note"] for one in marks}
        )

    def test_all_evidence_is_there_by_part(self, tree, spamnb, mail):
        why = explain(Model.open(spamnb.model), mail.messages["spam"])
        tables = section(tree, "Evidence by part")
        assert [one.text().partition(":")[0].lower() for one in tables.css("h3") if one.text()] == list(
            why.by_place()
        )
        listed = [one.text() for one in tables.css("tbody th code")]
        assert sorted(listed) == sorted(one.token for one in why.reasons)

    def test_the_waterfall_ends_at_the_score(self, tree, spamnb, mail):
        why = explain(Model.open(spamnb.model), mail.messages["spam"])
        plot = tree.css_first("figure svg")
        assert plot.attributes["role"] == "img"
        assert f"{why.lead:+.2f}" in words(plot)
        bars = plot.css("rect")
        assert len(bars) == min(len(why.reasons), 16) + 1 or len(bars) == len(why.by_place()) + 1

    def test_the_sum_and_what_was_ignored(self, tree):
        assert "4 silent" in words(section(tree, "The sum"))
        ignored = words(section(tree, "What was ignored"))
        assert "unknown" in ignored
        assert "weak: less than 2.5 nats" in ignored

    @pytest.mark.parametrize("name", ["ham", "spam", "unsure", "unknown"])
    @pytest.mark.parametrize("view", [None, View("bernoulli", 0.0), View("gaussian"), View(tfidf=True)])
    def test_any_message_by_any_view(self, spamnb, three, mail, name, view):
        for path in (spamnb.model, three):
            tree = parsed(page(Model.open(path, view), mail.messages[name]))
            assert section(tree, "The message")
            assert "nan" not in words(tree.css_first("main"))

    def test_an_empty_message(self, spamnb):
        assert "no subject" in words(parsed(page(Model.open(spamnb.model), b"\n")).css_first("h1"))

    def test_a_flood_makes_no_flood(self, spamnb):
        flood = b"Subject: x\n\n" + b" ".join(b"viagra%d casino buy now" % n for n in range(50_000))
        assert len(page(Model.open(spamnb.model), flood)) < 3_000_000

    def test_written_by_the_command(self, spamnb, mail, tmp_path):
        done = spamnb("inspect", "-", "--html", tmp_path / "why.html", stdin=mail.messages["spam"]).succeeds()
        assert done.lines[0].startswith("spam: score")
        assert (tmp_path / "why.html").read_text().startswith("<!doctype html>\n<html")


class TestHostileMail:
    def test_nothing_becomes_markup(self, taught, spamnb, mail):
        plain = parsed(page(Model.open(spamnb.model), mail.messages["spam"]))
        tree = parsed(page(taught, hostile(), ATTACKS[2]))
        kinds = {one.tag for one in tree.root.traverse()}
        assert kinds - {one.tag for one in plain.root.traverse()} <= {
            "br",
            "details",
            "summary",
            "line",
            "text",
            "i",
        }
        for node in tree.root.traverse():
            assert not [name for name in node.attributes if name.startswith("on") or name in ("href", "src")]
            assert "position" not in (node.attributes.get("style") or "")

    def test_it_is_shown_as_text(self, taught):
        text = parsed(page(taught, hostile())).css_first(".message").text()
        for attack in ATTACKS[:7]:
            assert attack in text
        assert {char for char in text if not char.isprintable()} <= {"\n"}


@pytest.mark.slow
@needs("chromium")
@pytest.mark.parametrize(
    "policy",
    [pytest.param(True, id="with its policy", marks=only_long), pytest.param(False, id="by escaping alone")],
)
def test_no_script_runs_in_a_browser(tmp_path, taught, policy):
    text = page(taught, hostile())
    if not policy:
        text = text.replace("Content-Security-Policy", "X-Nothing")
    tree = parsed(browse(tmp_path, text))
    assert not tree.css("script, img, iframe, a, link")
    assert tree.css_first("title").text() not in ("taken", "1")
    assert ATTACKS[0] in tree.css_first(".message").text()


MEASURE = """<!doctype html><body>{frames}<pre></pre><script>onload = () => {{
  const side = each => each.getBoundingClientRect();
  const found = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, wide = page.documentElement.clientWidth;
    page.querySelectorAll("details").forEach(each => each.open = true);
    const out = [...page.body.querySelectorAll("*")].filter(each => !each.closest(".scroll, svg"))
      .filter(each => side(each).right > wide + 1 || side(each).left < -1);
    const stops = [...page.querySelectorAll("mark[tabindex]")];
    const notes = stops.map(each => {{
      each.focus({{preventScroll: true}});
      const note = frame.contentWindow.getComputedStyle(each, "::after");
      return page.activeElement === each && note.display === "block" && note.content.length > 2
        && page.documentElement.scrollWidth <= wide;
    }});
    const sizes = [...page.querySelectorAll("figure text")].map(
      each => parseFloat(getComputedStyle(each).fontSize) * each.ownerSVGElement.getScreenCTM().a);
    return {{
      scroll: page.documentElement.scrollWidth, out: out.map(each => each.outerHTML.slice(0, 99)),
      stops: stops.length, notes: notes.every(x => x), sizes: [Math.min(...sizes), Math.max(...sizes)]}};
  }});
  document.querySelector("pre").textContent = JSON.stringify(found);
}}</script>"""
FRAME = '<iframe style="border:0;width:{width}px;height:800px" srcdoc="{page}"></iframe>'


@pytest.mark.slow
@needs("chromium")
@pytest.mark.parametrize("kind", ["hostile", pytest.param("spam", marks=only_long)])
def test_it_fits_a_phone_and_can_be_read_by_keyboard(tmp_path, taught, mail, kind):
    """In frames as wide as a phone, a tablet and a desk: notes come with the focus, nothing overflows."""
    raw = hostile() if kind == "hostile" else mail.messages[kind]
    widths, text = (360, 800, 1400), escape(page(taught, raw, "W" * 500))
    frames = "".join(FRAME.format(width=width, page=text) for width in widths)
    tree = parsed(browse(tmp_path, MEASURE.format(frames=frames), "--hide-scrollbars"))
    found = json.loads(unescape(tree.css_first("pre").text()))
    for width, one in zip(widths, found, strict=True):
        assert one["scroll"] == width
        assert one["out"] == []
        assert one["stops"] > 5
        assert one["notes"]
        assert 9 <= one["sizes"][0] <= one["sizes"][1] <= 18


CONTRAST = """<!doctype html><meta name="color-scheme" content="light dark"><body>{frames}<pre></pre><script>
onload = () => {{
  const frame = document.querySelector("iframe"), page = frame.contentDocument;
  const colour = name => frame.contentWindow.getComputedStyle(page.documentElement)[name];
  document.querySelector("pre").textContent = JSON.stringify([colour("color"), colour("backgroundColor")]);
}}</script>"""


@pytest.mark.slow
@needs("chromium")
def test_it_is_dark_where_the_reader_wants_that(tmp_path, spamnb, mail):
    text = escape(page(Model.open(spamnb.model), mail.messages["spam"]))
    found = {}
    for name, setting in (("light", "1"), ("dark", "0")):
        folder = tmp_path / name
        folder.mkdir()
        dom = browse(
            folder,
            CONTRAST.format(frames=FRAME.format(width=800, page=text)),
            f"--blink-settings=preferredColorScheme={setting}",
        )
        ink, paper = json.loads(unescape(parsed(dom).css_first("pre").text()))
        found[name] = brightness(ink) - brightness(paper)
    assert found["light"] < -150
    assert found["dark"] > 150


def brightness(colour):
    return sum(int(one) for one in colour.partition("(")[2].rstrip(")").split(",")[:3]) / 3
