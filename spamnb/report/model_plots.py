"""A model in four pictures, as one SVG file: telling tokens, weights, Zipf's curve, and scores."""

import re
from math import ceil, log10

from spamnb.bayes.cutoffs import not_spam
from spamnb.errors import CannotCreate, UsageError
from spamnb.inspection.model_summary import LARGEST_WEIGHT, WEIGHT_STEP, ModelCurves, TellingToken
from spamnb.labels import SPAM
from spamnb.pages import svg
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR, colour_of_label
from spamnb.pages.elements import Markup, element, joined, shortened
from spamnb.pages.formats import count, short, signed, tick
from spamnb.pages.histogram import ScoreGroup, histogram
from spamnb.pages.parts import sheet
from spamnb.pages.svg import ACROSS, BOTTOM, HEIGHT, RIGHT, TOP, UPWARD, WIDTH, Linear, Logarithmic

MARGIN, GAP, CAPTION = 24, 36, 30  # units around the pictures, between them, and for a name above each
ROWS = 16  # tokens that are named
NAME_LENGTH, LABEL_LENGTH = 28, 12  # characters of a token and of its label
BARS_LEFT = 170  # x where the bars of tokens begin, behind the names
FIGURE_ROOM = 70  # units behind the longest bar, for its figure

EXTRA_RULES = """
svg text { font-size: 10px; }
svg .paper { fill: var(--paper); }
svg .title { font: 18px var(--serif); fill: var(--ink); }
svg .head { font-size: 12px; font-weight: 600; fill: var(--ink); }
"""


def model_plots(model: ModelCurves, title: str) -> str:
    """Make the SVG file."""
    panels = (
        ("Most telling tokens", telling_tokens(model)),
        ("Weights of all tokens", weights(model)),
        ("Zipf's curve of the vocabulary", zipf(model)),
        ("Scores of the mail learned, each message left out", scores(model)),
    )
    wide, high = 2 * WIDTH + GAP + 2 * MARGIN, 2 * (HEIGHT + CAPTION) + GAP + 2 * MARGIN + CAPTION
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        + element(
            "svg",
            element("style", Markup(style())),
            element("rect", width=wide, height=high, class_="paper"),
            svg.text(MARGIN, MARGIN + 10, title, "start", "title"),
            [panel(index, name, plot) for index, (name, plot) in enumerate(panels)],
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {wide} {high}",
            width=wide,
            height=high,
        )
        + "\n"
    )


def panel(index: int, name: str, plot: Markup) -> Markup:
    x = MARGIN + index % 2 * (WIDTH + GAP)
    y = MARGIN + CAPTION + index // 2 * (HEIGHT + CAPTION + GAP)
    frame = element("svg", plot, x=x, y=y + CAPTION, width=WIDTH, height=HEIGHT)
    return joined(svg.text(x, y + 14, name, "start", "head"), frame)


def style() -> str:
    """Take the rules for drawings from the style sheets, without variables: not all programs know those."""
    colours, page = sheet("colours.css"), sheet("page.css")
    variables = "".join(css.partition("@media")[0] for css in (colours, page))
    values = dict(re.findall(r"--(\w+): ([^;]+);", variables))
    rules = [line for line in page.splitlines() if line.startswith("svg ")] + [EXTRA_RULES]
    return re.sub(r"var\(--(\w+)\)", lambda name: values[name[1]], "\n".join(rules))


def telling_tokens(model: ModelCurves) -> Markup:
    """Draw bars of the strongest tokens, label by label; of many labels, of those with the most messages."""
    summary = model.summary
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


def weights(model: ModelCurves) -> Markup:
    """Plot how many tokens have which weight, on a logarithmic scale; shaded, what is too weak to count."""
    bars = model.weights
    low, high = bars[0][0], bars[-1][0] + WEIGHT_STEP
    most = max((tokens for _, tokens in bars), default=0)
    x = Linear(low, high, *ACROSS)
    y = Logarithmic(1.0, 10.0 ** max(1, len(str(most))), *UPWARD)
    least = model.summary.view["least_evidence"]
    weak = x.at(max(low, -least)), x.at(least)
    edge = f", {LARGEST_WEIGHT:g} and more at the edge" if low < 0 else ""
    drawn = []
    if least:
        drawn.append(svg.box(weak[0], TOP, weak[1] - weak[0], BOTTOM - TOP, "unsure", "too weak to count"))
    drawn.append(svg.y_axis(y, "tokens", form=short))
    for at, tokens in bars:
        if tokens:
            left, right, top = x.at(at) + 0.4, x.at(at + WEIGHT_STEP) - 0.4, y.at(tokens)
            colour = SPAM_COLOUR if at >= 0 and model.toward == SPAM else HAM_COLOUR
            tip = f"{count(tokens)} tokens: {tick(at)} to {tick(at + WEIGHT_STEP)} nats"
            drawn.append(svg.box(left, top, right - left, BOTTOM - top, colour, tip))
    return svg.drawing(
        "weights",
        "Weights of all tokens",
        f"How many tokens speak how much for {model.toward}, on a logarithmic scale.",
        *drawn,
        svg.x_axis(x, f"nats for {model.toward}{edge}"),
    )


def zipf(model: ModelCurves) -> Markup:
    """Plot occurrences against rank, both logarithmic; dashed, the law: the n-th has 1/n of the first."""
    ranks, times = (max((point[k] for point in model.zipf), default=1) for k in (0, 1))
    x = Logarithmic(1.0, power_above(ranks), *ACROSS)
    y = Logarithmic(1.0, power_above(times), *UPWARD)
    law = [(x.at(rank), y.at(times / rank)) for rank in (1, min(ranks, times))]
    return svg.drawing(
        "zipf",
        "Zipf's curve of the vocabulary",
        f"{count(ranks)} tokens by rank; the most frequent occurs {count(times)} times.",
        svg.y_axis(y, "occurrences", y.ticks[1:], short),
        svg.x_axis(x, "rank of the token", x.ticks[1:], form=short),
        svg.path(law, "curve quiet dashed"),
        svg.clipped(svg.path([(x.at(rank), y.at(n)) for rank, n in model.zipf], "curve")),
    )


def power_above(value: float) -> float:
    power: float = 10.0 ** max(1, ceil(log10(max(value, 1))))
    return power


def scores(model: ModelCurves) -> Markup:
    """Draw how the mail learned scores, each message by the mail without it."""
    summary = model.summary
    if not len(model.ham) and not len(model.spam):
        why = "Scores are kept by models of ham and spam, once they have learned enough."
        return svg.drawing("scores", "Scores", why, svg.text(WIDTH / 2, HEIGHT / 2, why, class_="small"))
    ham = not_spam(summary.labels)
    cutoffs = (summary.cutoffs[0], summary.cutoffs[1]) if summary.cutoffs else None
    groups = ScoreGroup(ham, model.ham, HAM_COLOUR), ScoreGroup(SPAM, model.spam, SPAM_COLOUR)
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
