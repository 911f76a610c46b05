"""Whether a model is sound, in a terminal, a pipe or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.cli.inspecting.facts import told
from spamnb.cli.render import print_json, show
from spamnb.errors import DataError
from spamnb.files import complain, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.inspection.check import Checked


def show_checked(found: Checked, as_json: bool) -> int:
    """Each damage on a line; of a sound model, what was looked at."""
    if as_json:
        print_json(found.as_map())
    elif not found.damage:
        show(f"{printable(found.path)}: sound", *told(facts(found)))
    else:
        for damage in found.damage:
            complain(f"{found.path}: {damage}")
    return DataError.exit_code if found.damage else 0


def facts(found: Checked) -> Iterator[tuple[str, str]]:
    yield "tokens", f"{found.tokens:,}"
    yield "pairs", f"{found.pairs:,}"
    yield "messages", f"{found.messages:,}"
    yield "journal", f"{found.journal:,} messages, {found.journal_size:,} bytes"
    yield "size", f"{found.size:,} bytes in {found.columns:,} columns"
    if found.aside:
        yield (
            "aside",
            f"{printable(found.aside)}: a damaged journal of before; what was sound is in the model",
        )
