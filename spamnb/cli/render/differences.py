"""Print what two models disagree on, in a terminal, a pipe or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spamnb.cli.render.terminal import number, print_json, show, signed, table
from spamnb.files import printable
from spamnb.inspection.differences import ModelDifference
from spamnb.mailboxes.sources import message_name

if TYPE_CHECKING:
    from spamnb.cli.render.grid import Grid

TOP = 20  # tokens and messages shown by default


def show_difference(found: ModelDifference, top: int, as_json: bool) -> None:
    if as_json:
        print_json(asdict(found))
    else:
        paths = f"here:  {printable(found.here)}", f"there: {printable(found.there)}"
        show(*paths, *token_tables(found, top), *verdict_tables(found, top))


def token_tables(found: ModelDifference, top: int) -> Iterator[Grid | str]:
    if found.settings:
        rows = [(name, *map(value_text, both)) for name, both in found.settings.items()]
        yield table(None, ("", "here", "there"), rows, ("here", "there"))
    if found.moved:
        yield table(
            "weights that moved most",
            ("token", "for", "messages here", "there", "weight here", "there", "moved"),
            [
                (
                    token.token,
                    token.label,
                    f"{sum(token.messages_here.values()):,}",
                    f"{sum(token.messages_there.values()):,}",
                    *(signed(weight, 2) for weight in (token.here, token.there, token.there - token.here)),
                )
                for token in found.moved
            ],
            texts=("for",),
        )
    elif top:
        yield "all tokens have the same weights"


def value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(value_text, value[:12])) + (" …" if len(value) > 12 else "")
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def verdict_tables(found: ModelDifference, top: int) -> Iterator[Grid | str]:
    """Say how many verdicts change, from which to which, and list the messages."""
    if found.messages:
        ways = Counter(f"{message.here} to {message.there}" for message in found.changed).most_common()
        said = "".join(f", {n:,} from {way}" for way, n in ways)
        yield f"{len(found.changed):,} of {found.messages:,} verdicts change{said}"
    if found.changed:
        shown = found.changed[:top]
        yield table(
            f"verdicts that change ({len(shown):,} of {len(found.changed):,})",
            ("message", "here", "there", "score here", "there"),
            [
                (
                    message_name(message.path, message.index),
                    message.here,
                    message.there,
                    number(message.score_here),
                    number(message.score_there),
                )
                for message in shown
            ],
        )
