"""A model in two pictures, as one SVG file: its most telling tokens, and how its mail scores."""

import re

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import not_spam
from spamnb.errors import CannotCreate, UsageError
from spamnb.inspection.model_summary import ModelSummary, TellingToken
from spamnb.labels import SPAM
from spamnb.pages import svg
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR, colour_of_label
from spamnb.pages.elements import Markup, element, joined, shortened
from spamnb.pages.formats import signed
from spamnb.pages.histogram import ScoreGroup, histogram
from spamnb.pages.parts import sheet
from spamnb.pages.svg import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, Linear

MARGIN, GAP, CAPTION = 24, 36, 30  # units around the pictures, between them, and for a name above each
ROWS = 16  # tokens that are named, at most
NAME_LENGTH, LABEL_LENGTH = 28, 12  # characters of a token and of its label
BARS_LEFT = 170  # x where the bars of tokens begin, behind the names
FIGURE_ROOM = 70  # units behind the longest bar, for its figure

EXTRA_RULES = """
svg text { font-size: 10px; }
svg .paper { fill: var(--paper); }
svg .title { font: 18px var(--serif); fill: var(--ink); }
svg .head { font-size: 12px; font-weight: 600; fill: var(--ink); }
"""


def model_plots(summary: ModelSummary, ham: Array, spam: Array, title: str) -> str:
    """Make the SVG file, with the scores of the ham and the spam learned."""
    panels = (
        ("Most telling tokens", telling_tokens(summary)),
        ("Scores of the mail learned, each message left out", scores(summary, ham, spam)),
    )
    wide, high = len(panels) * (WIDTH + GAP) - GAP + 2 * MARGIN, HEIGHT + 2 * CAPTION + 2 * MARGIN
    drawn = element(
        "svg",
        element("style", Markup(style())),
        element("rect", width=wide, height=high, class_="paper"),
        svg.text(MARGIN, MARGIN + 10, title, "start", "title"),
        [panel(index, name, plot) for index, (name, plot) in enumerate(panels)],
        xmlns=SVG,
        viewBox=f"0 0 {wide} {high}",
        width=wide,
        height=high,
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n{drawn}\n'


def panel(index: int, name: str, plot: Markup) -> Markup:
    x, y = MARGIN + index * (WIDTH + GAP), MARGIN + CAPTION
    frame = element("svg", plot, x=x, y=y + CAPTION, width=WIDTH, height=HEIGHT)
    return joined(svg.text(x, y + 14, name, "start", "head"), frame)


def style() -> str:
    """Take the rules for drawings from the style sheets, without variables: not all programs know those."""
    colours, page = sheet("colours.css"), sheet("page.css")
    variables = "".join(css.partition("@media")[0] for css in (colours, page))
    values = dict(re.findall(r"--(\w+): ([^;]+);", variables))
    rules = [line for line in page.splitlines() if line.startswith("svg ")] + [EXTRA_RULES]
    return re.sub(r"var\(--(\w+)\)", lambda name: values[name[1]], "\n".join(rules))


def telling_tokens(summary: ModelSummary) -> Markup:
    """Draw bars of the strongest tokens, label by label; of many labels, of those with the most messages."""
    ranked = sorted(summary.telling, key=lambda label: -summary.messages[summary.labels.index(label)])
    listed = [label for label in summary.labels if label in ranked[: ROWS // 2] and summary.telling[label]]
    each = ROWS // max(1, len(listed))
    rows = [(label, token) for label in listed for token in summary.telling[label][:each]]
    largest = max((token.weight for _, token in rows), default=1.0)
    x = Linear(0, largest, BARS_LEFT, RIGHT - FIGURE_ROOM)
    return svg.drawing(
        "telling",
        "Most telling tokens",
        f"Of each label: {'; '.join(listed)}.",
        *(named_bar(row, label, token, x) for row, (label, token) in enumerate(rows)),
        svg.text(BARS_LEFT, TOP - 8, "nats ahead of any other label", "start", "name"),
    )


def named_bar(row: int, label: str, token: TellingToken, x: Linear) -> Markup:
    y, end = TOP + row * (BOTTOM - TOP + 16) / ROWS, x.at(token.weight)
    return joined(
        svg.text(BARS_LEFT - 6, y + 9, shortened(token.token, NAME_LENGTH), "end", "name"),
        svg.box(x.start, y + 1, end - x.start, 10, colour_of_label(label), f"{token.token}: {label}"),
        svg.text(end + 4, y + 9, f"{signed(token.weight)} {label[:LABEL_LENGTH]}", "start"),
    )


def scores(summary: ModelSummary, ham: Array, spam: Array) -> Markup:
    """Draw how the mail learned scores, each message by the mail without it."""
    if not len(ham) and not len(spam):
        why = "Scores are kept by models of ham and spam, once they have learned enough."
        return svg.drawing("scores", "Scores", why, svg.text(WIDTH / 2, HEIGHT / 2, why, class_="small"))
    rest = not_spam(summary.labels)
    cutoffs = (summary.cutoffs[0], summary.cutoffs[1]) if summary.cutoffs else None
    groups = ScoreGroup(rest, ham, HAM_COLOUR), ScoreGroup(SPAM, spam, SPAM_COLOUR)
    return histogram(*groups, cutoffs)[0]


DOTS_PER_UNIT = 2  # sharp on screens with small dots, too
SANS = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Helvetica", "Arial")
SVG = "http://www.w3.org/2000/svg"
# Drawn as M and as a space: both look the same where the font is missing.
LETTER = '<svg xmlns="{}" width="9" height="9"><text y="9" font-family="{}">{}</text></svg>'


def png(picture: str) -> bytes:
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        why = "PNG needs an extra: pip install 'spamnb[plot]'; SVG does not: name FILE.svg"
        raise UsageError(why) from None

    def is_there(font: str) -> bool:
        return svg_to_bytes(LETTER.format(SVG, font, "M")) != svg_to_bytes(LETTER.format(SVG, font, " "))

    sans = next(filter(is_there, SANS), None)
    if sans is None:
        raise CannotCreate("no font to write a PNG with: install fonts-dejavu-core, or name FILE.svg")
    return svg_to_bytes(picture, zoom=DOTS_PER_UNIT, sans_serif_family=sans)
