"""Print what two models disagree on, in a terminal, a pipe or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spamnb.cli.render.terminal import number, print_json, show, signed, table
from spamnb.files import printable
from spamnb.inspection.differences import ChangedVerdict, ModelDifference, MovedToken

if TYPE_CHECKING:
    from spamnb.cli.render.grid import Grid

TOP = 20  # tokens and messages shown by default


def show_difference(found: ModelDifference, top: int, keyed: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_map())
    else:
        paths = f"here:  {printable(found.here)}", f"there: {printable(found.there)}"
        show(*paths, *tables(found, top, keyed))


def tables(found: ModelDifference, top: int, keyed: bool) -> list[Grid | str]:
    output: list[Grid | str] = []
    if found.settings:
        output.append(
            table(
                None,
                ("", "here", "there"),
                [(name, *map(value_text, pair)) for name, pair in found.settings.items()],
                ("here", "there"),
            )
        )
    if found.moved:
        output.append(moved_table(found.moved))
        if keyed:
            output.append("tokens are shown as numbers: these models keep no words")
    elif "keyed" in found.settings:
        output.append("their tokens cannot be compared: the models have different keys")
    elif top:
        output.append("all tokens have the same weights")
    if found.messages:
        output.append(f"{len(found.changed):,} of {found.messages:,} verdicts change{ways(found.changed)}")
    if found.changed:
        output.append(changed_table(found.changed[:top], len(found.changed)))
    return output


def ways(changed: Sequence[ChangedVerdict]) -> str:
    """Say from which verdict to which they change, the most frequent first."""
    counts: dict[str, int] = {}
    for message in changed:
        way = f"{message.here} to {message.there}"
        counts[way] = counts.get(way, 0) + 1
    return "".join(f", {n:,} from {way}" for way, n in sorted(counts.items(), key=lambda item: -item[1]))


def value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(value_text, value[:12])) + (" …" if len(value) > 12 else "")
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def moved_table(moved: Sequence[MovedToken]) -> Grid:
    return table(
        "weights that moved most",
        ("token", "for", "messages here", "there", "weight here", "there", "moved"),
        [
            (
                token.token,
                token.label,
                f"{sum(token.messages_here.values()):,}",
                f"{sum(token.messages_there.values()):,}",
                signed(token.here, 2),
                signed(token.there, 2),
                signed(token.there - token.here, 2),
            )
            for token in moved
        ],
        texts=("for",),
    )


def changed_table(changed: Sequence[ChangedVerdict], of: int) -> Grid:
    return table(
        f"verdicts that change ({len(changed):,} of {of:,})",
        ("message", "here", "there", "score here", "there"),
        [
            (
                message.path if message.index is None else f"{message.path}:{message.index}",
                message.here,
                message.there,
                number(message.score_here),
                number(message.score_there),
            )
            for message in changed
        ],
    )
