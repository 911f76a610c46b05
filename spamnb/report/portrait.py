"""A model in four pictures, as one SVG file: telling tokens, weights, Zipf's curve, and scores."""

from __future__ import annotations

import re
from math import log10
from typing import TYPE_CHECKING

from spamnb.bayes.verdict import SPAM
from spamnb.inspection.portrait import FARTHEST, STEP
from spamnb.report.document import sheet
from spamnb.report.elements import Markup, element, joined
from spamnb.report.evidence import colour
from spamnb.report.figures import count, signed, tick
from spamnb.report.histogram import Kind, histogram
from spamnb.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Linear,
    Logarithmic,
    across,
    box,
    clipped,
    drawing,
    path,
    text,
    up,
)

if TYPE_CHECKING:
    from spamnb.inspection.knowledge import Telling
    from spamnb.inspection.portrait import Portrait

MARGIN, GAP, CAPTION = 24, 36, 30  # units around the pictures, between them, and for a name above each
ROWS = 16  # tokens that are named
NAME, LABEL = 28, 12  # characters of a token and of its label
NAMES = 170  # where their bars begin
ROOM = 70  # behind the longest bar, for its figure

OWN_RULES = """
svg text { font-size: 10px; }
svg .paper { fill: var(--paper); }
svg .title { font: 18px var(--serif); fill: var(--ink); }
svg .head { font-size: 12px; font-weight: 600; fill: var(--ink); }
"""


def portrait(model: Portrait, title: str) -> str:
    """The SVG file."""
    panels = (
        ("Most telling tokens", telling(model)),
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
            [panel(place, name, plot) for place, (name, plot) in enumerate(panels)],
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {wide} {high}",
            width=wide,
            height=high,
        )
        + "\n"
    )


def panel(place: int, name: str, plot: Markup) -> Markup:
    x = MARGIN + place % 2 * (WIDTH + GAP)
    y = MARGIN + CAPTION + place // 2 * (HEIGHT + CAPTION + GAP)
    frame = element("svg", plot, x=x, y=y + CAPTION, width=WIDTH, height=HEIGHT)
    return joined(text(x, y + 14, name, "start", "head"), frame)


def style() -> str:
    """The page's rules for drawings, with colours in place of names: not every program knows those."""
    whole = sheet("style.css")
    names = dict(re.findall(r"--(\w+): ([^;]+);", whole.partition("@media")[0]))
    rules = [one for one in whole.splitlines() if one.startswith("svg ")] + [OWN_RULES]
    return re.sub(r"var\(--(\w+)\)", lambda name: names[name[1]], "\n".join(rules))


def telling(model: Portrait) -> Markup:
    """Bars of the strongest tokens, label by label; of many labels, of those with the most messages."""
    known = model.knowledge
    ranked = sorted(known.telling, key=lambda label: -known.messages[known.labels.index(label)])
    listed = [label for label in known.labels if label in ranked[: ROWS // 2] and known.telling[label]]
    each = ROWS // max(1, len(listed))
    rows = [(label, one) for label in listed for one in known.telling[label][:each]]
    largest = max((one.weight for _, one in rows), default=1.0)
    x = Linear(0, largest, NAMES, RIGHT - ROOM)
    return drawing(
        "telling",
        "Most telling tokens",
        f"Of each label: {'; '.join(listed)}.",
        *(named_bar(place, label, one, x) for place, (label, one) in enumerate(rows)),
        text(NAMES, TOP - 8, "nats ahead of any other label", "start", "name"),
    )


def named_bar(place: int, label: str, one: Telling, x: Linear) -> Markup:
    y = TOP + place * (BOTTOM - TOP + 16) / ROWS
    name = one.token if len(one.token) <= NAME else one.token[: NAME - 1] + "…"
    return joined(
        text(NAMES - 6, y + 9, name, "end", "name"),
        box(x.start, y + 1, x.at(one.weight) - x.start, 10, colour(label), f"{one.token}: {label}"),
        text(x.at(one.weight) + 4, y + 9, f"{signed(one.weight)} {label[:LABEL]}", "start"),
    )


def weights(model: Portrait) -> Markup:
    """How many tokens have which weight, on a logarithmic scale; shaded, what is too weak to count."""
    bars = model.weights
    low, high = bars[0][0], bars[-1][0] + STEP
    most = max((many for _, many in bars), default=0)
    x = Linear(low, high, LEFT, RIGHT)
    y = Logarithmic(1.0, 10.0 ** max(1, len(str(most))), BOTTOM, TOP)
    least = model.knowledge.view["least_evidence"]
    weak = x.at(max(low, -least)), x.at(least)
    return drawing(
        "weights",
        "Weights of all tokens",
        f"How many tokens speak how much for {model.toward}, on a logarithmic scale.",
        *(
            [box(weak[0], TOP, weak[1] - weak[0], BOTTOM - TOP, "unsure", "too weak to count")]
            if least
            else []
        ),
        up(y, "tokens", form=short),
        *(
            box(
                x.at(at) + 0.4,
                y.at(many),
                x.at(at + STEP) - x.at(at) - 0.8,
                BOTTOM - y.at(many),
                "spam" if at >= 0 and model.toward == SPAM else "ham",
                f"{count(many)} tokens: {tick(at)} to {tick(at + STEP)} nats",
            )
            for at, many in bars
            if many
        ),
        across(x, f"nats for {model.toward}" + (f", {FARTHEST:g} and more at the edge" if low < 0 else "")),
    )


def zipf(model: Portrait) -> Markup:
    """Occurrences against rank, both logarithmic; dashed, the law: the n-th occurs 1/n times the first."""
    ranks, times = (max((point[k] for point in model.zipf), default=1) for k in (0, 1))
    x = Logarithmic(1.0, power_above(ranks), LEFT, RIGHT)
    y = Logarithmic(1.0, power_above(times), BOTTOM, TOP)
    law = [(x.at(rank), y.at(times / rank)) for rank in (1, min(ranks, times))]
    return drawing(
        "zipf",
        "Zipf's curve of the vocabulary",
        f"{count(ranks)} tokens by rank; the most frequent occurs {count(times)} times.",
        up(y, "occurrences", y.ticks[1:], short),
        across(x, "rank of the token", x.ticks[1:], form=short),
        path(law, "curve quiet dashed"),
        clipped(path([(x.at(rank), y.at(many)) for rank, many in model.zipf], "curve")),
    )


def short(value: float) -> str:
    """A power of ten, in few letters."""
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def power_above(value: float) -> float:
    power: float = 10.0 ** max(1, -int(-log10(max(value, 1)) // 1))
    return power


def scores(model: Portrait) -> Markup:
    known = model.knowledge
    if not len(model.ham) and not len(model.spam):
        why = "Scores are kept by models of ham and spam, once they have learned enough."
        return drawing("scores", "Scores", why, text(WIDTH / 2, HEIGHT / 2, why, kind="small"))
    ham = next(label for label in known.labels if label != SPAM)
    cutoffs = (known.cutoffs[0], known.cutoffs[1]) if known.cutoffs else None
    plot, _beyond = histogram(Kind(ham, model.ham, "ham"), Kind(SPAM, model.spam, "spam"), cutoffs)
    return plot
