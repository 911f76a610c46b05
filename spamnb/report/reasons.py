"""The evidence of a message by place, its sum, what was ignored, and what would change the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.inspection.unread import headers_unread, hidden_words, parts_unread
from spamnb.report.elements import Markup, element, foreign, joined, label
from spamnb.report.evidence import TOKEN
from spamnb.report.figures import count, counted, signed
from spamnb.report.tables import grid, row, titled
from spamnb.report.waterfall import side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spamnb.inspection import Explanation, Reason
    from spamnb.inspection.flips import Flip

SHOWN, MOST = 12, 500  # tokens of a place: at once, and when asked for
LISTED = 200  # tokens of a kind that was ignored
WIDEST = 4  # labels up to which each has a column


def row_ids(why: Explanation) -> dict[str, str]:
    """Of each token that has a row, its id."""
    told = [one for own in why.by_place().values() for one in own[:MOST] if not one.is_number]
    return {one.token: f"e{place}" for place, one in enumerate(told)}


def evidence(why: Explanation, ids: Mapping[str, str]) -> Markup:
    against, toward = why.sides
    words = (
        f"Messages that have each token, and how much likelier it is in {toward} than in {against}, "
        "as a natural logarithm: its weight. What it adds is its part of the sum."
    )
    largest = max((abs(one.adds) for one in why.reasons), default=0.0)
    places = [place(why, name, own, ids, largest) for name, own in why.by_place().items()]
    return element(
        "section",
        element("h2", "Evidence by part"),
        element("p", words if places else "Nothing in this message tells the labels apart.", class_="lead"),
        element("div", places, class_="tables"),
    )


def place(
    why: Explanation, name: str, own: Sequence[Reason], ids: Mapping[str, str], largest: float
) -> Markup | None:
    columns = ("token", *(f"in {one}" for one in columns_of(why)), "weight", "adds", "")
    rows = [reason(why, one, ids.get(one.token), largest) for one in own[:MOST]]
    whole = signed(sum(one.adds for one in own))
    shown = titled(f"{name.capitalize()}: {counted(len(own), 'token')}, {whole}", grid(columns, rows[:SHOWN]))
    if len(rows) <= SHOWN:
        return shown
    left_out = f", {count(len(own) - MOST)} more are not on this page" if len(own) > MOST else ""
    return joined(
        shown,
        element(
            "details",
            element("summary", f"{count(len(rows) - SHOWN)} more{left_out}"),
            titled("", grid(columns, rows[SHOWN:])),
        ),
    )


def columns_of(why: Explanation) -> Sequence[str]:
    """All labels; of many, the two at issue."""
    return why.model.labels if len(why.model.labels) <= WIDEST else why.sides


def reason(why: Explanation, one: Reason, id_: str | None, largest: float) -> Markup:
    places = [why.model.labels.index(name) for name in columns_of(why)]
    times = f" ×{one.evidence.times:.3g}" if one.evidence.times != 1 else None
    width = min(100.0, 100 * abs(one.adds) / largest) if 0 < largest < float("inf") else 0.0
    return element(
        "tr",
        element("th", element("code", foreign(one.token, TOKEN)), times, scope="row"),
        [element("td", count(one.row[k])) for k in places],
        element("td", signed(one.weight)),
        element("td", f"{one.adds:+.4f}".replace("-", "−")),
        element(
            "td",
            element("i", class_=f"bar {side(why, one.adds)}", style=f"width:{width:.1f}%"),
            aria_hidden="true",
        ),
        id=id_,
    )


def sums(why: Explanation) -> Markup:
    """The lead as a sum that can be checked."""
    if not why.is_finite:
        body: Markup = element(
            "p", "There is none: without smoothing, a count of zero says never.", class_="lead"
        )
        return element("section", element("h2", "The sum"), body)
    rows = [
        row(name, None, None, f"{adds:+.4f}")
        for name, adds in (("prior", why.prior), ("words that are absent", why.absent))
        if adds
    ]
    for share in why.shares:
        divided = (
            None if share.divisor == 1 else f"{count(share.tokens)} + {share.divisor - share.tokens:g} silent"
        )
        rows.append(row(share.name, f"{share.weight:+.3f}", divided, f"{share.adds:+.4f}"))
    against, toward = why.sides
    name = "score" if why.lead == why.verdict.score else f"{toward} ahead of {against} by"
    rows.append(row(name, None, None, f"{why.lead:+.4f}"))
    table = grid(("part", "weights", "divided by", "adds"), rows, "sum")
    return element("section", element("h2", "The sum"), titled_quietly("The sum", table))


def titled_quietly(name: str, table: Markup) -> Markup:
    """A table below a heading that says it all."""
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=name)


def changes(why: Explanation) -> Markup:
    if why.flips:
        listed: Markup = joined([flip(one) for one in why.flips])
    else:
        listed = element(
            "p", "Nothing that it could lack. Other words would have to be in it.", class_="lead"
        )
    return element("section", element("h2", "What would change the verdict"), listed)


def flip(one: Flip) -> Markup:
    """The fewest tokens without which it is another one."""
    return element(
        "div",
        element(
            "p",
            element("b", label(one.verdict)),
            f", score {signed(one.score)}, without these {counted(len(one.without), 'token')}:",
        ),
        words(one.without),
        class_="flip",
    )


def ignored(why: Explanation) -> Markup:
    hidden = hidden_words(why.features)
    weak = [f"{one.token} {signed(one.weight)}" for one in why.weak[:LISTED]]
    headers = headers_unread(why.message, why.model.settings.headers)
    parts = parts_unread(why.message)
    kinds: tuple[tuple[str, int, Iterable[str]], ...] = (
        ("unknown: in no message learned", len(why.unknown), why.unknown),
        (f"weak: less than {why.model.view.least_evidence:g} nats", len(why.weak_rows), weak),
        ("pairs of neighbours, unknown or weak", why.silent_pairs, ()),
        ("words hidden from the reader: they count as hidden only", len(hidden), hidden),
        (
            "headers that are not read",
            len(headers),
            (f"{name}: {reason}" for name, reason in headers.items()),
        ),
        ("parts that are not read", len(parts), (f"{name}: {reason}" for name, reason in parts.items())),
    )
    listed = [kind(name, many, list(examples)) for name, many, examples in kinds if many]
    return element(
        "section", element("h2", "What was ignored"), listed or element("p", "Nothing.", class_="lead")
    )


def kind(name: str, many: int, examples: Sequence[str]) -> Markup:
    heading = f"{count(many)} {name}"
    if not examples:
        return element("p", heading)
    return element("details", element("summary", heading), words(examples, many))


def words(tokens: Sequence[str], many: int | None = None) -> Markup:
    more = (len(tokens) if many is None else many) - LISTED
    return element(
        "ul",
        [element("li", element("code", foreign(token, TOKEN))) for token in tokens[:LISTED]],
        element("li", f"and {count(more)} more") if more > 0 else None,
        class_="evidence quiet",
    )
