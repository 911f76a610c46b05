"""On pages that are well formed, and some that are not, the words are those a real HTML parser finds."""

from __future__ import annotations

import pytest
from helpers.generated import examples_times
from hypothesis import given
from hypothesis import strategies as st

from spamnb.html.page import render

selectolax = pytest.importorskip("selectolax.lexbor", reason="selectolax is not installed")

BLOCKS = set(
    "address blockquote br center dd div dl dt form h1 h2 hr li ol option p pre select table tbody td "
    "textarea th tr ul".split()
)
NOT_TEXT = {"script", "style", "title", "iframe", "noframes"}


def oracle(page: str) -> list[str]:
    """The words of the parsed tree's text, in its order, with a gap around each block."""
    found: list[str] = []
    todo = [(selectolax.LexborHTMLParser(page).root, False)]
    while todo:
        node, ended = todo.pop()
        if node.tag == "-text":
            found.append(node.text(deep=False))
            continue
        if node.tag is None or node.tag in NOT_TEXT or node.tag.startswith("-"):
            continue
        if node.tag in BLOCKS:
            found.append(" ")
        if not ended:
            todo.append((node, True))
            children = []
            child = node.child
            while child is not None:
                children.append((child, False))
                child = child.next
            todo.extend(reversed(children))
    return "".join(found).split()


PAGES = [
    "plain text",
    "<html><head><title>t</title><style>p {}</style></head><body><p>one</p><p>two</p></body></html>",
    *("<p>one<p>two<br>three<hr>four", "via<b></b>gra vi<i>ag</i>ra <u>v<!-- x -->i</u>agra"),
    "<ul><li>a<li>b<ul><li>c</ul></ul><ol><li>d</li></ol>",
    *("<table><tr><td>a<td>b<tr><th>c</th><td><table><tr><td>d</table></table>e", "<dl><dt>a<dd>b<dt>c</dl>"),
    *("<select><option>a<option>b</select>", "<pre>\na  b\n c</pre>"),
    "<script>if (a < b) document.write('<b>')</script>x<script>//</script>",
    *("<textarea><b>&amp;</b></textarea>", "<noscript><b>x</b></noscript>"),
    *("<a href='x>y' title=\"<b>\">z</a>", "<a href=x/y/>z</a><br/><img src=a/>w"),
    "a<!-->b<!--->c<!---->d<!-- > -->e<!x>g<?y?>h</>i</ j>k<3<<b>l</b>",
    "&lt;b&gt; &copy &eacute;&#233;&#xe9;&#128; &nbsp;. &bogus; &am<b></b>p; &# &#x &",
    *("<B>x</B ><O:P>y</O:P>z", "unfinished <b", "unfinished <!-- x", "unfinished &am", "a</p>b</div>c</b>d"),
    *("<b><p>a</b>b</p>c", "a < b > c", "<body bgcolor=red>a<body>b</body>c</html>d"),
]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    assert render(page).text.split() == oracle(page)


WORDS = st.text(alphabet="abcé ", min_size=1, max_size=6)
ATTRIBUTES = st.sampled_from(
    ["", " id=x", ' title="a > b"', " title='<p>'", " class=a\n lang = 'b'", " nowrap"]
)
COMMENTS = st.sampled_from(["<!-- a -->", "<!-- > <b> -->", "<!--[if mso]><p>b</p><![endif]-->"])


def element(names: list[str], content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda name, attributes, inner: f"<{name}{attributes}>{inner}</{name}>",
        st.sampled_from(names),
        ATTRIBUTES,
        content,
    )


def several(content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(content, max_size=4).map("".join)


INLINE = st.recursive(
    WORDS | COMMENTS | st.sampled_from(["<br>", "<br/>", "&amp;", "&lt;b&gt;", "<img src=x>"]),
    lambda inner: element(["b", "I", "font", "span", "o:p", "sup"], several(inner)),
    max_leaves=4,
)
FLOW = st.recursive(
    several(INLINE) | element(["p", "H1"], several(INLINE)),
    lambda inner: st.one_of(
        element(["div", "center", "BLOCKQUOTE"], several(inner)),
        element(["ul", "ol"], several(element(["li"], several(inner)))),
        element(["table"], several(element(["tr"], several(element(["td", "th"], several(inner)))))),
    ),
    max_leaves=5,
)


@examples_times(0.8)
@given(several(FLOW))
def test_trees(page: str) -> None:
    assert render(page).text.split() == oracle(page)
