"""What a person sees of a page, what is kept from view, where it leads; and that no page is slow to read."""

from __future__ import annotations

import re

import pytest

from spamnb.core.native import MAX_NAMES, MAX_TARGETS, RenderedPage, render_page


def words(text: str) -> str:
    return " ".join(text.split())


def rows(table: str) -> list[str]:
    return re.split(r" \| |\n *", table.strip())


# What is seen: of which pages.
SEEN = {
    "": "<script>never closed",
    "viagra": """
        via<b></b>gra | via<!-- x -->gra | via<!-->gra | via<![endif]>gra | via</ b>gra | vi\0ag<\0b>ra
        via</div></td></li></x>gra""",
    "via": "via<!-- never closed > gra",
    "1 < 2 and 3 > 2": "1 < 2 and 3 > 2",
    "end": "end <b",
    "<\u4e00> <é>": "<\u4e00> <é>",
    "x y": "<B>x</B><BR>y | x<hr>y | <img alt='x'>y | x<div>y</div> | <ul><li>x<li>y</ul> | <td>x</td>y",
    "xy": "<o:p>x</o:p>y | x<wbr>y",
    "y": """
        <img alt='x' style='display:none'>y | <input type=hidden value=x>y | <iframe>x</iframe>y
        <title>x</title>y""",
    "z": """
        <a title="x > y">z</a> | <a title='<b>' href=u>z</a> | <style>p {color: red}</style>z
        <script>x<b>y</scripty></script >z""",
    "y>z": '<a title="x > y>z',  # a quote without end is none
    "R&D": "<img alt='R&amp;D'>",
    "Buy now": "<input type=submit value='Buy now'>",
    "<b>": "<textarea><b></textarea> | &lt;b&gt;",
    "&amp;": "&am<b></b>p;",
}


@pytest.mark.parametrize(("page", "seen"), [(page, seen) for seen in SEEN for page in rows(SEEN[seen])])
def test_text(page: str, seen: str) -> None:
    assert words(render_page(page).text) == seen


def styled(table: str) -> list[str]:
    return [f"<div style='{style}'>x</div>" for style in rows(table)]


HIDING = styled(r"""
    DISPLAY : None !important | color:red;/* ; */display/**/:none | display&#58;none
    display:none!important;display:block | d\69splay:n\6f ne | visibility:hidden | opacity:.01
    font-size:0 | font-size:.5pt | max-height:0;overflow:hidden
    position:absolute;left:-9999px | position:fixed;top:-100em | margin:0 0 0 -9999px | text-indent:-9999px
    clip-path:inset(50%) | transform:rotate(3deg) scale(0) | color:transparent | color:rgb(255, 255, 250)
    color:rgba(0,0,0,0) | color:rgb(0 0 0 / 1%) | color:hsl(120, 100%, 100%) | color:var(--none, white)
""") + rows("""
    <div class=a hidden id=b>x</div> | <title>x</title> | <span hidden>x<span>x</span>x</span>
    <div hidden><p>x<p>x<div>x</div></div> | <div hidden><table><tr><td>x</div>x</table>x</div>
    <font color=white>x</font> | <font color=FFFFFF>x</font> | <font color='#f8f9fa'>x</font>
    <body bgcolor=black><font color=#010101>x</font> | <body bgcolor=white text=white>x
    <td style='color:blue' bgcolor=blue>x</td> | <div style='background:red'><b style='color:#f00'>x</b></div>
    <div style='--a:#fff'><p style='color:var(--a)'>x</p></div>
""")  # fmt: skip
HIDING.append("<font color='#fffff'>x</font>")  # as browsers read it: ff ff f0


@pytest.mark.parametrize("page", HIDING)
def test_hidden(page: str) -> None:
    found = render_page(page)
    assert set("".join(found.hidden.split())) == {"x"}
    assert found.text.split() == []


SHOWING = styled("""
    display:none;display:block | opacity:.5 | font-size:8px | height:0
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
    found = render_page(page)
    assert "x" in found.text
    assert "x" not in found.hidden


def under(css: str, body: str) -> RenderedPage:
    return render_page(f"<html><head><style type=text/css>{css}</style></head><body>{body}</body></html>")


OF_A_CLASS = rows(r"""
    .a{display:none} | .\61 {display:none} | .a{position:absolute} p{left:-999px} | p#i.a{display:none}
    :root{--w:#fff} .a{color:var(--w)} | @import 'a'; @charset 'b'; .a{display:none}
    @font-face{src:a} @keyframes k{from{top:0}} .a{display:none} | @media(max-width:9999px){.a{display:none}}
    .a{display:none} @media (min-width:9999px){.a{display:block}} | div > .a{display:none}
    <!-- .b , .A { DISPLAY : none } --> | /* { */ p/**/{display:none;color:red | p{display:none!important}
""")


@pytest.mark.parametrize("css", OF_A_CLASS)
def test_hidden_by_a_style_sheet(css: str) -> None:
    body = "<div><p id=i class='c a' style='display:block'>x</p></div>"
    body = body if "important" in css else body.replace(" style='display:block'", "")
    for found in (under(css, body), render_page(f"{body}<style>{css}</style>")):
        assert found.hidden == "x"
        assert found.text.split() == []


OF_OTHERS = rows("""
    .a{display:none} | div.b, #b, i#a{display:none} | p{display:none} | .c p{display:none}
    p:hover, p::before, p:checked ~ p{display:none} | [data-ogsc] p, p[title]{display:none}
    @media print{p{display:none!important}} | @media (prefers-color-scheme: dark){p{color:#fff}}
    @media screen and (max-width:600px){p{display:none!important}}
    @media (min-width:37.5em){p{height:0;overflow:hidden}} | .dark{background:#000} .dark p{color:#fff}
""")  # the last as phones or wide windows show it


@pytest.mark.parametrize("css", OF_OTHERS)
def test_seen_under_a_style_sheet(css: str) -> None:
    found = under(css, "<i class=c></i><div class=dark><p class=b id=a style='display:block'>x</p></div>")
    assert found.text.split() == ["x"]
    assert found.hidden == ""


def test_style_sheets_for_other_media() -> None:
    assert render_page("<style media=print>p{display:none}</style><p>x").hidden == ""
    assert render_page("<style media='screen'>p{display:none}</style><p>x").hidden == "x"


def test_hidden_and_seen_do_not_mix() -> None:
    found = render_page(
        "via<span hidden>one</span>gra<span hidden>two</span> <div style='color:white'>three<br>four</div>"
    )
    assert words(found.text) == "viagra"
    assert words(found.hidden) == "one two three four"
    # what is not there leaves no gap, what is only unseen does
    assert render_page("via<div hidden>x</div>gra").text == "viagra"
    assert words(render_page("via<div style=color:white>x</div>gra").text) == "via gra"


def test_targets() -> None:
    found = render_page(
        "<body background=b.gif><a href='http://x/?a=1&amp;b=2&copy=3'>1</a><A HREF = http://y/?q=1>2</a>"
        "<area href='z\n z'><form action=f><iframe src=i></iframe><link href=l>"
        "<a name=n href=''><a href=' s '>"
        "<img src=1.gif><img src='2.gif' src=3.gif><td background='4.gif'><input type=image src=5.gif>"
        "<a/href=7>"
    )
    assert found.links == ["http://x/?a=1&b=2&copy=3", "http://y/?q=1", "z z", *"f i l s 7".split()]
    assert found.images == ["b.gif", "1.gif", "2.gif", "4.gif", "5.gif"]


def test_tags() -> None:
    found = render_page("<P>a<p>b</p><o:p></o:p><!-- <i> --><script><u></script><br><br/></x>< s>")
    assert found.tags == {"p": 2, "o:p": 1, "script": 1, "br": 2}


def test_caps() -> None:
    many = "".join(f"<x{i}><a href={i}><img src={i}>" for i in range(3000))
    found = render_page(many)
    assert len(found.tags) <= MAX_NAMES + 2
    assert len(found.links) == len(found.images) == MAX_TARGETS
    assert len(render_page(f"<a href='{'x' * 3000}'>").links[0]) == 2000
    assert max(map(len, render_page(f"<{'x' * 300}>").tags)) == 40


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("&eacute;&Eacute;&nbsp;&euro;&ndash;&zwnj;&shy;", "éÉ\xa0€–\u200c\xad"),
        ("&copy 2000 &copyright &amp;amp; &AMP", "© 2000 &copyright &amp; &"),
        ("&nosuch; &nosuch &;", "&nosuch; &nosuch &;"),
        ("&#65;&#x42;&#X43;&#68 &#x45z", "ABCD Ez"),
        ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
        (f"&#{'9' * 10_000};&#{'0' * 10_000}65;", "\ufffdA"),
        ("&#128;&#150;&#x9f;&#129;", "€–Ÿ\x81"),
        ("&#; &#x; &#g; &# & b", "&#; &#x; &#g; &# & b"),
    ],
)
def test_references(text: str, plain: str) -> None:
    assert render_page(text).text == plain


@pytest.mark.parametrize(
    ("attributes", "links"),
    [
        ('href="1" HREF="2"', ["1"]),
        ("href='\"' src=2", ['"', "2"]),
        ('a=1 href="2"src=3/', ["2", "3/"]),
        ("= href=1 / src/href=2", ["2"]),
        ("xhref=1 href-x=2 href", []),
        ("href=&lt;&copy=1&amp", ["<&copy=1&"]),
    ],
)
def test_attributes(attributes: str, links: list[str]) -> None:
    found = render_page(f"<a {attributes}>x")
    assert (found.text, found.links, found.images) == ("x", links, [])
