"""A model in four pictures, as one SVG file: telling tokens, weights, Zipf's curve, and scores."""

import re
from math import log10

from spamnb.bayes.cutoffs import not_spam
from spamnb.errors import CannotCreate, UsageError
from spamnb.inspection.model_summary import LARGEST_WEIGHT, WEIGHT_STEP, ModelCurves, TellingToken
from spamnb.labels import SPAM
from spamnb.report.elements import Markup, element, joined, sheet
from spamnb.report.formats import HAM_COLOUR, SPAM_COLOUR, colour_of_label, count, signed, tick
from spamnb.report.histogram import ScoreGroup, histogram
from spamnb.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Linear,
    Logarithmic,
    box,
    clipped,
    drawing,
    path,
    text,
    x_axis,
    y_axis,
)

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
            text(MARGIN, MARGIN + 10, title, "start", "title"),
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
    return joined(text(x, y + 14, name, "start", "head"), frame)


def style() -> str:
    """Take the rules for drawings from the style sheets, without variables: not all programs know those."""
    colours, page = sheet("colours.css"), sheet("style.css")
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
    return drawing(
        "telling",
        "Most telling tokens",
        f"Of each label: {'; '.join(listed)}.",
        *(named_bar(row, label, token, x) for row, (label, token) in enumerate(rows)),
        text(BARS_LEFT, TOP - 8, "nats ahead of any other label", "start", "name"),
    )


def named_bar(row: int, label: str, token: TellingToken, x: Linear) -> Markup:
    y = TOP + row * (BOTTOM - TOP + 16) / ROWS
    name = token.token if len(token.token) <= NAME_LENGTH else token.token[: NAME_LENGTH - 1] + "…"
    return joined(
        text(BARS_LEFT - 6, y + 9, name, "end", "name"),
        box(
            x.start,
            y + 1,
            x.at(token.weight) - x.start,
            10,
            colour_of_label(label),
            f"{token.token}: {label}",
        ),
        text(x.at(token.weight) + 4, y + 9, f"{signed(token.weight)} {label[:LABEL_LENGTH]}", "start"),
    )


def weights(model: ModelCurves) -> Markup:
    """Plot how many tokens have which weight, on a logarithmic scale; shaded, what is too weak to count."""
    bars = model.weights
    low, high = bars[0][0], bars[-1][0] + WEIGHT_STEP
    most = max((tokens for _, tokens in bars), default=0)
    x = Linear(low, high, LEFT, RIGHT)
    y = Logarithmic(1.0, 10.0 ** max(1, len(str(most))), BOTTOM, TOP)
    least = model.summary.view["least_evidence"]
    weak = x.at(max(low, -least)), x.at(least)
    edge = f", {LARGEST_WEIGHT:g} and more at the edge" if low < 0 else ""
    return drawing(
        "weights",
        "Weights of all tokens",
        f"How many tokens speak how much for {model.toward}, on a logarithmic scale.",
        *(
            [box(weak[0], TOP, weak[1] - weak[0], BOTTOM - TOP, "unsure", "too weak to count")]
            if least
            else []
        ),
        y_axis(y, "tokens", form=short_power),
        *(
            box(
                x.at(at) + 0.4,
                y.at(tokens),
                x.at(at + WEIGHT_STEP) - x.at(at) - 0.8,
                BOTTOM - y.at(tokens),
                SPAM_COLOUR if at >= 0 and model.toward == SPAM else HAM_COLOUR,
                f"{count(tokens)} tokens: {tick(at)} to {tick(at + WEIGHT_STEP)} nats",
            )
            for at, tokens in bars
            if tokens
        ),
        x_axis(x, f"nats for {model.toward}" + edge),
    )


def zipf(model: ModelCurves) -> Markup:
    """Plot occurrences against rank, both logarithmic; dashed, the law: the n-th has 1/n of the first."""
    ranks, times = (max((point[k] for point in model.zipf), default=1) for k in (0, 1))
    x = Logarithmic(1.0, power_above(ranks), LEFT, RIGHT)
    y = Logarithmic(1.0, power_above(times), BOTTOM, TOP)
    law = [(x.at(rank), y.at(times / rank)) for rank in (1, min(ranks, times))]
    return drawing(
        "zipf",
        "Zipf's curve of the vocabulary",
        f"{count(ranks)} tokens by rank; the most frequent occurs {count(times)} times.",
        y_axis(y, "occurrences", y.ticks[1:], short_power),
        x_axis(x, "rank of the token", x.ticks[1:], form=short_power),
        path(law, "curve quiet dashed"),
        clipped(path([(x.at(rank), y.at(n)) for rank, n in model.zipf], "curve")),
    )


def short_power(value: float) -> str:
    """Write a power of ten in few letters."""
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def power_above(value: float) -> float:
    power: float = 10.0 ** max(1, -int(-log10(max(value, 1)) // 1))
    return power


def scores(model: ModelCurves) -> Markup:
    """Draw how the mail learned scores, each message by the mail without it."""
    summary = model.summary
    if not len(model.ham) and not len(model.spam):
        why = "Scores are kept by models of ham and spam, once they have learned enough."
        return drawing("scores", "Scores", why, text(WIDTH / 2, HEIGHT / 2, why, class_="small"))
    ham = not_spam(summary.labels)
    cutoffs = (summary.cutoffs[0], summary.cutoffs[1]) if summary.cutoffs else None
    plot, _beyond = histogram(
        ScoreGroup(ham, model.ham, HAM_COLOUR), ScoreGroup(SPAM, model.spam, SPAM_COLOUR), cutoffs
    )
    return plot


DOTS_PER_UNIT = 2  # sharp on screens with small dots, too
SANS = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Helvetica", "Arial")
SVG = "http://www.w3.org/2000/svg"
# Drawn as M and as a space: both look the same where the font is missing.
LETTER = '<svg xmlns="{}" width="9" height="9"><text y="9" font-family="{}">{}</text></svg>'


def png(svg: str) -> bytes:
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
    return svg_to_bytes(svg, zoom=DOTS_PER_UNIT, sans_serif_family=sans)
