"""What two models disagree on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.cli.render import number, print_json, show, signed, table, tell_unreadable
from spamnb.files import printable
from spamnb.inspection.differences import Difference, changed_verdicts, difference
from spamnb.mailboxes.sources import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.cli.grid import Grid
    from spamnb.inspection.differences import Changed, Moved
    from spamnb.model import Model

TOP = 20  # tokens and messages, if not said otherwise


def show_difference(
    here: Model, there: Model, mail: Sequence[str], top: int, jobs: int, as_json: bool
) -> int:
    check(mail)
    settings, moved = difference(here, there, top)
    messages, changed, unreadable = changed_verdicts(here, there, mail, jobs) if mail else (0, [], [])
    found = Difference(here.stored.path, there.stored.path, settings, moved, messages, changed)
    if as_json:
        print_json(found.as_map())
    else:
        said = tables(found, top, bool(here.stored.keyed))
        show(f"here:  {printable(found.here)}", f"there: {printable(found.there)}", *said)
    return tell_unreadable(unreadable)


def tables(found: Difference, top: int, keyed: bool) -> list[Grid | str]:
    said: list[Grid | str] = []
    if found.settings:
        said.append(
            table(
                None,
                ("", "here", "there"),
                [(name, *pair) for name, pair in worded(found)],
                ("here", "there"),
            )
        )
    if found.moved:
        said.append(moved_table(found.moved))
        if keyed:
            said.append("tokens are numbers: these models keep no words")
    elif "keyed" in found.settings:
        said.append("their tokens cannot be compared: they are not hidden by the same key")
    elif top:
        said.append("no token weighs differently")
    if found.messages:
        said.append(f"{len(found.changed):,} of {found.messages:,} verdicts change{ways(found.changed)}")
    if found.changed:
        said.append(changed_table(found.changed[:top], len(found.changed)))
    return said


def ways(changed: Sequence[Changed]) -> str:
    """From which to which, the most frequent first."""
    counts: dict[str, int] = {}
    for one in changed:
        way = f"{one.here} to {one.there}"
        counts[way] = counts.get(way, 0) + 1
    return "".join(f", {many:,} from {way}" for way, many in sorted(counts.items(), key=lambda way: -way[1]))


def worded(found: Difference) -> list[tuple[str, list[str]]]:
    return [(name, [words(one) for one in pair]) for name, pair in found.settings.items()]


def words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(words, value[:12])) + (" …" if len(value) > 12 else "")
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def moved_table(moved: Sequence[Moved]) -> Grid:
    return table(
        "weights that moved most",
        ("token", "for", "messages here", "there", "weight here", "there", "moved"),
        [
            (
                one.token,
                one.label,
                f"{sum(one.messages_here.values()):,}",
                f"{sum(one.messages_there.values()):,}",
                signed(one.here, 2),
                signed(one.there, 2),
                signed(one.there - one.here, 2),
            )
            for one in moved
        ],
        texts=("for",),
    )


def changed_table(changed: Sequence[Changed], of: int) -> Grid:
    return table(
        f"verdicts that change ({len(changed):,} of {of:,})",
        ("message", "here", "there", "score here", "there"),
        [
            (
                one.path if one.index is None else f"{one.path}:{one.index}",
                one.here,
                one.there,
                number(one.score_here),
                number(one.score_there),
            )
            for one in changed
        ],
    )
