"""Read a page by its source and in a real browser; also texts of mail that try to attack the page."""

import json
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser

from helpers.reviewing import shared_browser

TAKEN = "document.title='taken'"
ATTACKS = [
    f"<script>{TAKEN}</script>",
    f'<img src=x onerror="{TAKEN}">',
    f"</title></style><script>{TAKEN}</script>",
    f"\"'><svg onload={TAKEN}>",
    "</mark></div></title></svg><iframe src=javascript:alert(1)></iframe>",
    "' style='position:fixed;inset:0' onmouseover='document.title=1'",
    "<a href='http://tracker.example/?x'>click</a><link rel=stylesheet href=//evil.example>",
    "<!-- ]]> &lt;b&gt; &#60;i&#62;",
    "\u202egnp.exe \u2066isolated \u200bzero\x00\x1b[31m\x85\ufeff",
    "W" * 3000,
    "a\u0301\u0302\u0303" * 300,
    "שלום עולם مرحبا",
]
AS_TEXT = ATTACKS[:8]  # which are shown to the letter
WIDTHS = (360, 800, 1400)  # of a phone, a tablet and a desk: no window can be that narrow everywhere

MEASURE = """<!doctype html><meta name="color-scheme" content="light dark"><body>{frames}<pre></pre><script>
onload = () => {{
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
      stops: stops.length, notes: notes.every(x => x),
      sizes: [Math.min(...sizes), Math.max(...sizes)]}};
  }});
  document.querySelector("pre").textContent = JSON.stringify(found);
}}</script>"""
FRAME = '<iframe style="border:0;width:{width}px;height:800px" srcdoc="{page}"></iframe>'


def parsed(page):
    return LexborHTMLParser(page)


def words(node):
    return " ".join(node.text().split())


def section(tree, name):
    return next(
        each for each in tree.css("section") if (head := each.css_first("h2")) and head.text() == name
    )


def browse(folder, text):
    """Open a page in Chromium; return its document, parsed, as it is after scripts have run."""
    (file := folder / "page.html").write_text(text)
    shared_browser().get(file.as_uri())
    return parsed(shared_browser().page_source)


def measured(folder, page, widths):
    """Show a page in frames of these widths; return how it is laid out in each."""
    frames = "".join(FRAME.format(width=width, page=escape(page)) for width in widths)
    return json.loads(unescape(browse(folder, MEASURE.format(frames=frames)).css_first("pre").text()))
