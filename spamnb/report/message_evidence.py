"""Sections about a message: its evidence, their sum, what was ignored, what would change the verdict."""

from collections.abc import Iterable, Mapping, Sequence

from spamnb.inspection.explanation import Explanation
from spamnb.inspection.flips import Flip
from spamnb.inspection.ignored import hidden_words, ignored_headers, ignored_parts
from spamnb.inspection.reason import Reason
from spamnb.report.elements import Markup, element, joined, label, row, scrolling, table, titled, untrusted
from spamnb.report.formats import colour_of_weight, count, counted, signed
from spamnb.report.tokens_and_mistakes import TOKEN

SHOWN, MOST = 12, 500  # tokens of a place: shown at once, and once unfolded
LISTED = 200  # ignored tokens of a kind, at most


def row_ids(why: Explanation) -> dict[str, str]:
    """Number the rows of tokens: the id of each, by token."""
    listed = [reason for reasons in why.by_place().values() for reason in reasons[:MOST]]
    tokens = [reason.token for reason in listed if not reason.is_number]
    return {token: f"e{serial}" for serial, token in enumerate(tokens)}


def evidence_section(why: Explanation, ids: Mapping[str, str]) -> Markup:
    against, toward = why.sides
    words = (
        f"Messages that have each token, and how much likelier it is in {toward} than in {against}, "
        "as a natural logarithm: its weight. What it adds is its part of the sum."
    )
    largest = max((abs(reason.adds) for reason in why.reasons), default=0.0)
    places = [place_table(why, name, reasons, ids, largest) for name, reasons in why.by_place().items()]
    return element(
        "section",
        element("h2", "Evidence by part"),
        element("p", words if places else "Nothing in this message tells the labels apart.", class_="lead"),
        element("div", places, class_="tables"),
    )


def place_table(
    why: Explanation, name: str, reasons: Sequence[Reason], ids: Mapping[str, str], largest: float
) -> Markup | None:
    columns = ("token", *(f"in {label}" for label in why.column_labels), "weight", "adds", "")
    rows = [reason_row(why, reason, ids.get(reason.token), largest) for reason in reasons[:MOST]]
    total = signed(sum(reason.adds for reason in reasons))
    title = f"{name.capitalize()}: {counted(len(reasons), 'token')}, {total}"
    shown = titled(title, table(columns, rows[:SHOWN]))
    if len(rows) <= SHOWN:
        return shown
    left_out = f", {count(len(reasons) - MOST)} more are not on this page" if len(reasons) > MOST else ""
    return joined(
        shown,
        element(
            "details",
            element("summary", f"{count(len(rows) - SHOWN)} more{left_out}"),
            titled("", table(columns, rows[SHOWN:])),
        ),
    )


def reason_row(why: Explanation, reason: Reason, id_: str | None, largest: float) -> Markup:
    label_indexes = [why.model.labels.index(name) for name in why.column_labels]
    times = f" ×{reason.evidence.times:.3g}" if reason.evidence.times != 1 else None
    width = min(100.0, 100 * abs(reason.adds) / largest) if 0 < largest < float("inf") else 0.0
    return element(
        "tr",
        element("th", element("code", untrusted(reason.token, TOKEN)), times, scope="row"),
        [element("td", count(reason.row[k])) for k in label_indexes],
        element("td", signed(reason.weight)),
        element("td", f"{reason.adds:+.4f}".replace("-", "−")),
        element(
            "td",
            element("i", class_=f"bar {colour_of_weight(why, reason.adds)}", style=f"width:{width:.1f}%"),
            aria_hidden="true",
        ),
        id=id_,
    )


def sum_section(why: Explanation) -> Markup:
    """Show the lead as a sum that can be checked."""
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
    for part in why.part_sums:
        divided = (
            None if part.divisor == 1 else f"{count(part.tokens)} + {part.divisor - part.tokens:g} silent"
        )
        rows.append(row(part.name, f"{part.weight:+.3f}", divided, f"{part.adds:+.4f}"))
    against, toward = why.sides
    name = "score" if why.lead == why.verdict.score else f"{toward} ahead of {against} by"
    rows.append(row(name, None, None, f"{why.lead:+.4f}"))
    summed = table(("part", "weights", "divided by", "adds"), rows, "sum")
    return element("section", element("h2", "The sum"), scrolling("The sum", summed))


def changes_section(why: Explanation) -> Markup:
    if why.flips:
        listed: Markup = joined([flip_text(flip) for flip in why.flips])
    else:
        listed = element(
            "p", "Nothing that it could lack. Other words would have to be in it.", class_="lead"
        )
    return element("section", element("h2", "What would change the verdict"), listed)


def flip_text(flip: Flip) -> Markup:
    """Name the fewest tokens without which the verdict is another one."""
    return element(
        "div",
        element(
            "p",
            element("b", label(flip.verdict)),
            f", score {signed(flip.score)}, without these {counted(len(flip.without), 'token')}:",
        ),
        token_list(flip.without),
        class_="flip",
    )


def ignored_section(why: Explanation) -> Markup:
    hidden = hidden_words(why.features)
    weak = [f"{token.token} {signed(token.weight)}" for token in why.weak[:LISTED]]
    headers = ignored_headers(why.message, why.model.settings.headers)
    parts = ignored_parts(why.message)
    kinds: tuple[tuple[str, int, Iterable[str]], ...] = (
        ("unknown: in no message learned", len(why.unknown), why.unknown),
        (f"weak: less than {why.model.view.least_evidence:g} nats", len(why.weak_rows), weak),
        ("pairs of neighbours, unknown or weak", why.ignored_pairs, ()),
        ("words hidden from the reader: they count as hidden only", len(hidden), hidden),
        (
            "headers that are not read",
            len(headers),
            (f"{name}: {reason}" for name, reason in headers.items()),
        ),
        ("parts that are not read", len(parts), (f"{name}: {reason}" for name, reason in parts.items())),
    )
    listed = [ignored_tokens(name, total, list(examples)) for name, total, examples in kinds if total]
    return element(
        "section", element("h2", "What was ignored"), listed or element("p", "Nothing.", class_="lead")
    )


def ignored_tokens(name: str, total: int, examples: Sequence[str]) -> Markup:
    heading = f"{count(total)} {name}"
    if not examples:
        return element("p", heading)
    return element("details", element("summary", heading), token_list(examples, total))


def token_list(tokens: Sequence[str], total: int | None = None) -> Markup:
    more = (len(tokens) if total is None else total) - LISTED
    return element(
        "ul",
        [element("li", element("code", untrusted(token, TOKEN))) for token in tokens[:LISTED]],
        element("li", f"and {count(more)} more") if more > 0 else None,
        class_="evidence quiet",
    )
