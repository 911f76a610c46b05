"""What a person sees of a page, what is kept from view, where it leads; and that no page is slow to read."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.html import nesting, styles
from spamnb.html import page as pages
from spamnb.html.entities import unescape
from spamnb.html.page import render


def words(text: str) -> str:
    return " ".join(text.split())


def rows(table: str) -> list[str]:
    return re.split(r" \| |\n *", table.strip())


# What is seen: of which pages.
SEEN = {
    "": "<script>never closed",
    "no markup": "no markup",
    "viagra": """
        via<b></b>gra | via<!-- x -->gra | via<!-->gra | via<!--->gra | via<!---->gra
        via<!x>gra | via<![endif]>gra | via</>gra | via</ b>gra | via</3>gra
        vi\0ag<\0b>ra | via</div></td></li></x>gra""",
    "via": "via<!-- never closed > gra",
    "via'>gra": "via<?xml a='>'>gra",
    "1 < 2 and 3 > 2": "1 < 2 and 3 > 2",
    "a <3 b <c": "a <3 b <<b>c</b>",
    "end <": "end <",
    "end </": "end </",
    "end": "end <b",
    "<\u4e00> <é> <\u212a>": "<\u4e00> <é> <\u212a>",
    "x": "<!DOCTYPE html>x | <noscript>x</noscript>",
    "x y": "<B>x</B><BR>y | x<hr>y | <h1>x</h1>y | <img alt='x'>y",
    "x y z": """
        x<br/>y<br />z | x</p>y</br>z | <p>x<p>y</p>z | x<div>y</div>z | <ul><li>x<li>y</ul>z""",
    "xy": "<o:p>x</o:p>y | <html><head></head><body>x</body></html>y",
    "ab": "a<wbr>b",
    "y": """
        <img alt='x' style='display:none'>y | <input type=hidden value=x>y | <input type=checkbox value=x>y
        <iframe>x</iframe>y | <title>x</title>y""",
    "z": """
        <a title="x > y">z</a> | <a title='<b>' href=u>z</a> | <a title="a>b>c" alt=">">z
        <script>x<b>y</scripty></script >z | <SCRIPT>if (a</b/.test(c)) '</SCRIPT>z
        <style>p {color: red}</style>z""",
    "y>z": '<a title="x > y>z',  # a quote without end is none
    "z it's": "<a title=it's>z</a> it's",
    "R&D": "<img alt='R&amp;D'>",
    "Buy now": "<input type=submit value='Buy now'>",
    "<b>x</b>": "<textarea><b>x</b></textarea>",
    "<b>": "<xmp><b></xmp> | &lt;b&gt;",
    "&amp;": "&am<b></b>p;",
}
OF_LINES = [("", ""), ("<pre>a\n  b</pre>", "a b")]


@pytest.mark.parametrize(
    ("page", "seen"), [(page, seen) for seen in SEEN for page in rows(SEEN[seen])] + OF_LINES
)
def test_text(page: str, seen: str) -> None:
    assert words(render(page).text) == seen


def test_gaps_are_lines_and_tabs() -> None:
    assert render("<p>a<br>b</p>").text == "\na\nb\n"
    assert render("<td>a</td>").text == "\ta\t"


def styled(table: str) -> list[str]:
    return [f"<div style='{style}'>x</div>" for style in rows(table)]


HIDING = styled(r"""
    display:none | DISPLAY : None !important | color:red;/* ; */display/**/:none | display&#58;none
    display:none!important;display:block | d\69splay:n\6f ne | visibility:hidden | opacity:.01 | opacity:1%
    font-size:0 | font-size:1px | font-size:.5pt | height:0px;overflow:hidden | max-height:0;overflow:hidden
    position:absolute;left:-9999px | position:fixed;top:-100em | margin:0 0 0 -9999px | text-indent:-9999px
    clip-path:inset(50%) | transform:rotate(3deg) scale(0) | color:transparent | color:rgb(255, 255, 250)
    color:rgba(0,0,0,0) | color:rgb(0 0 0 / 1%) | color:hsl(120, 100%, 100%) | color:var(--none, white)
""") + rows("""
    <div hidden>x</div> | <div class=a hidden id=b>x</div> | <p style=visibility:hidden>x</p>
    <title>x</title> | <iframe>x</iframe> | <span hidden>x<span>x</span>x</span>
    <div hidden><p>x<p>x<div>x</div></div> | <div hidden><table><tr><td>x</div>x</table>x</div>
    <font color=white>x</font> | <font color=FFFFFF>x</font> | <font color='#ffffff'>x</font>
    <font color='#fff'>x</font> | <font color='#f8f9fa'>x</font> | <font color=white color=black>x</font>
    <body bgcolor=black><font color=#010101>x</font> | <body bgcolor=white text=white>x
    <td style='color:blue' bgcolor=blue>x</td> | <div style='background:red'><b style='color:#f00'>x</b></div>
    <div style='background:rgb(1 2 3)'><b style='color:#010203'>x</b></div>
    <div style='--a:#fff'><p style='color:var(--a)'>x</p></div>
""")  # fmt: skip
HIDING.append("<font color='#fffff'>x</font>")  # as browsers read it: ff ff f0


@pytest.mark.parametrize("page", HIDING)
def test_hidden(page: str) -> None:
    found = render(page)
    assert set("".join(found.hidden.split())) == {"x"}
    assert found.text.split() == []


SHOWING = styled("""
    display:block | display:none;display:block | opacity:.5 | opacity:50% | font-size:8px | height:0
    overflow:hidden;width:600px | height:100%;overflow:hidden | position:absolute;left:-20px | left:-9999px
    margin:-30px | text-indent:2em | clip-path:inset(10% 20%) | transform:scale(.5)
    color:hsl(120, 100%, 25%)
""") + rows("""
    <div aria-hidden=true title=hidden>x</div> | <font size=0>x</font> | <font color=black>x</font>
    <font color=nonsense>x</font> | <font color=''>x</font> | <font color=#ffffee>x</font>
    <body bgcolor=black text=white>x | <body bgcolor=black><font color=white>x</font>
    <body background=night.gif><font color=white>x</font> | <font color=white><a href=u>x</a></font>
    <td style='background:url(night.gif)'><font color=white>x</font></td>
    <td style='background:transparent' bgcolor=black><font color=white>x</font></td>
    <td style='font-size:0'><span style='font-size:14px'>x</span></td>
    <p style='visibility:hidden'><b style='visibility:visible'>x</b></p>
""")  # fmt: skip
ENDED = rows("""
    <div hidden></div>x | <div hidden><div></div></div>x | <div hidden></DIV >x | <p hidden><p>x
    <div><span hidden></div>x | <ul><li hidden><li>x</ul> | <b hidden></b>x
    <table><tr><td hidden><td>x</table> | <table><tr hidden><td><tr><td>x</table>
    <table><tr><td hidden><font color=white></table>x
""")  # by an end tag, or what stands for it
NOT_ENDED = ["<font color=white><table bgcolor=black><tr><td></font>x</table></font>"]
SHEETLESS = "<body bgcolor=black>x"  # its own style sheet will have coloured it


@pytest.mark.parametrize("page", [*SHOWING, *ENDED, *NOT_ENDED, SHEETLESS])
def test_seen(page: str) -> None:
    found = render(page)
    assert "x" in found.text
    assert "x" not in found.hidden


def under(css: str, body: str) -> pages.Page:
    return render(f"<html><head><style type=text/css>{css}</style></head><body>{body}</body></html>")


OF_A_CLASS = rows(r"""
    .a{display:none} | p.a{display:none} | .\61 {display:none} | .a{position:absolute} p{left:-999px}
    .a{color:#fff} | :root{--w:#fff} .a{color:var(--w)} | @import 'a'; @charset 'b'; .a{display:none}
    @font-face{src:a} @keyframes k{from{top:0}} .a{display:none} | @media all{.a{display:none}}
    @media print{.a{top:0}} .a{display:none} | @media(max-width:9999px){.a{display:none}}
    @media only screen and (min-width:1px), print{.a{display:none}}
    .a{display:none} @media (min-width:9999px){.a{display:block}}
""")


@pytest.mark.parametrize(
    ("css", "body"),
    [
        *((css, "<p class=a>x</p>") for css in OF_A_CLASS),
        ("\n.b , .A\n{ DISPLAY : none }", "<p class='c a'>x</p>"),
        ("<!-- #a {display:none} -->", "<p id=a>x</p>"),
        ("/* { */ p/**/{display:none;color:red", "<p>x</p>"),
        ("p#i.a.b{display:none}", "<p id=i class='b c a'>x</p>"),
        ("div .a > p{display:none}", "<div><span class=a><p>x</p></span></div>"),
        ("p{display:none!important}", "<p style='display:block'>x</p>"),
        (".b{display:block} .a{display:none}", "<p class='a b'>x</p>"),
        (".a{background:#000} .a p{color:#101010}", "<div class=a><p>x</p></div>"),
    ],
)
def test_hidden_by_a_style_sheet(css: str, body: str) -> None:
    for found in (under(css, body), render(f"{body}<style>{css}</style>")):
        assert found.hidden == "x"
        assert found.text.split() == []


OF_OTHERS = rows("""
    .ExternalClass p, #outlook p{display:none} | p:hover, p::before, p:checked ~ p{display:none}
    [data-ogsc] p, p[title]{display:none} | @media print{p{display:none}} | @media not all{p{display:none}}
    @media (prefers-color-scheme: dark){p{color:#fff}} | @keyframes p{p{display:none}}
""")


@pytest.mark.parametrize(
    ("css", "body"),
    [
        (".a{display:none}", "<p class=b id=a>x</p>"),
        ("p.a, #a.b, b#a{display:none}", "<div class=a id=a>x</div>"),
        ("p{display:none}", "<p style='display:block'>x</p>"),
        (".a p{display:none}", "<div class=a></div><p>x</p>"),
        *((css, "<p>x</p>") for css in OF_OTHERS),
        # what phones or wide windows show
        ("@media screen and (max-width:600px){.wide{display:none!important}}", "<p class=wide>x</p>"),
        ("@media (min-width:37.5em){.narrow{height:0;overflow:hidden}}", "<p class=narrow>x</p>"),
        (".dark{background:#000} h1{color:#fff}", "<div class=dark><h1>x</h1></div>"),
    ],
)
def test_seen_under_a_style_sheet(css: str, body: str) -> None:
    found = under(css, body)
    assert found.text.split() == ["x"]
    assert found.hidden == ""


def test_style_sheets_for_other_media() -> None:
    assert render("<style media=print>p{display:none}</style><p>x").hidden == ""
    assert render("<style media='screen'>p{display:none}</style><p>x").hidden == "x"


def test_hidden_and_seen_do_not_mix() -> None:
    found = render(
        "via<span hidden>one</span>gra<span hidden>two</span> <div style='color:white'>three<br>four</div>"
    )
    assert words(found.text) == "viagra"
    assert words(found.hidden) == "one two three four"
    # what is not there leaves no gap, what is only unseen does
    assert render("via<div hidden>x</div>gra").text == "viagra"
    assert words(render("via<div style=color:white>x</div>gra").text) == "via gra"


def test_targets() -> None:
    found = render(
        "<body background=b.gif><a href='http://x/?a=1&amp;b=2&copy=3'>1</a><A HREF = http://y/?q=1>2</a>"
        "<area href='z\n z'><form action=f><iframe src=i></iframe><link href=l>"
        "<a name=n href=''><a href=' s '>"
        "<img src=1.gif><img src='2.gif' src=3.gif><td background='4.gif'><input type=image src=5.gif>"
        "<a/href=7>"
    )
    assert found.links == ["http://x/?a=1&b=2&copy=3", "http://y/?q=1", "z z", *"f i l s 7".split()]
    assert found.images == ["b.gif", "1.gif", "2.gif", "4.gif", "5.gif"]


def test_tags() -> None:
    found = render("<P>a<p>b</p><o:p></o:p><!-- <i> --><script><u></script><br><br/></x>< s>")
    assert found.tags == {"p": 2, "o:p": 1, "script": 1, "br": 2}


def test_caps() -> None:
    many = "".join(f"<x{i}><a href={i}><img src={i}>" for i in range(3000))
    found = render(many)
    assert len(found.tags) <= nesting.MAX_NAMES + 2
    assert len(found.links) == len(found.images) == pages.MAX_TARGETS
    assert len(render(f"<a href='{'x' * 3000}'>").links[0]) == pages.MAX_TARGET
    assert max(map(len, render(f"<{'x' * 300}>").tags)) == nesting.MAX_NAME
    render("".join(f"<p style=font-size:{i}px>" for i in range(2000)))
    assert len(styles._known_css) <= styles.MAX_CSS


def test_a_long_tag_is_still_one() -> None:
    page = f"<img src='data:{'A' * 50_000}' alt=x>seen"
    assert render(page).text == "seen"
    assert render(page).images[0].startswith("data:AAA")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a & b && c", "a & b && c"),
        ("&eacute;&Eacute;&nbsp;&euro;&ndash;&zwnj;&shy;", "éÉ\xa0€–\u200c\xad"),
        ("&copy 2000 &copyright &amp;amp; &AMP", "© 2000 &copyright &amp; &"),
        ("&nosuch; &nosuch &;", "&nosuch; &nosuch &;"),
        ("&#65;&#x42;&#X43;&#68 &#x45z", "ABCD Ez"),
        ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
        (f"&#{'9' * 10_000};&#{'0' * 10_000}65;", "\ufffdA"),
        ("&#128;&#150;&#x9f;&#129;", "€–Ÿ\x81"),
        ("&#; &#x; &#g; &# &#x", "&#; &#x; &#g; &# &#x"),
        ("&#1;&#13;", "\x01\r"),
    ],
)
def test_references(text: str, plain: str) -> None:
    assert unescape(text) == plain


def test_references_in_attributes() -> None:
    assert unescape("?a=1&copy=2&lt=3&reg4&amp;x&gt", attribute=True) == "?a=1&copy=2&lt=3&reg4&x>"


PIECES = st.sampled_from(
    (
        "<|>|;|=|'|\"|/|\0|\n| |x|</|<!--|-->|<a |<b>|</b>|<p>|</p>|<td>|</td>|<table>|</table>|<ul>|<li>"
        "|</ul>|href|<font color=white>|</font>| style='|display:none|&#|&lt|<script>|</script>|<div hidden>"
        "|</div>|rgb(|1px|<title>|<img alt=|<style>|</style>|.a|#b|{|}|@media |(max-width:9px)|var(--a)"
        "|--a:#fff;|color:|<p class=a id=b>|,|!|\\\\6|[class=a]|hsl(|transform:scale(|clip-path:inset("
    ).split("|")
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)))
@example("<font style='font:.. 1..1px;color:rgb(a,,);color:#-1;background:#+1'>x")
@example(f"<p style='color:hsl({'9' * 400},1%,{'9' * 400}%);left:-{'9' * 400}px;position:fixed'>x")
@example("<style>@media{@media,{.a:{--a:var(--a)}}}}[.#{color:var(}</style><p style=--a:var(--a;color:var(>x")
@example("<body text=' ' bgcolor=# text=''>\ud800")
@example(f"<font style='color:rgb({'9' * 400},0,0)'>x")
def test_nothing_raises(page: str) -> None:
    found = render(page)
    assert len(found.text) + len(found.hidden) <= 2 * len(page) + 2
    assert all(found.links)
    assert all(found.images)


@pytest.mark.parametrize(
    ("attributes", "links"),
    [
        ('href="1" HREF="2"', ["1"]),
        ("href = 1 href=2", ["1"]),
        ("href='\"' src=2", ['"', "2"]),
        ('a=1 href="2"src=3/', ["2", "3/"]),
        ("= href=1 / src/href=2", ["2"]),
        ("==href src==1", ["=1"]),
        ("href", []),
        ("xhref=1 href-x=2 hre=3", []),
        ("href=&lt;&copy=1&amp", ["<&copy=1&"]),
        ("h\u2003href\u3000=\xa01\x1csrc=2", ["1", "2"]),
        ("bac\u212aground=1 href\u4e00=2", []),
    ],
)
def test_attributes(attributes: str, links: list[str]) -> None:
    found = render(f"<a {attributes}>x")
    assert (found.text, found.links, found.images) == ("x", links, [])
