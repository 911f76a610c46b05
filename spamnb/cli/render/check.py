"""Print whether a model is sound, in a terminal, a pipe or as JSON."""

from collections.abc import Iterator

from spamnb.cli.render.terminal import fact_lines, print_json, show
from spamnb.errors import DataError
from spamnb.files import complain, printable
from spamnb.inspection.check import CheckReport


def show_check(found: CheckReport, as_json: bool) -> int:
    """Print each damage on a line; of a sound model, what was checked."""
    if as_json:
        print_json(found.as_map())
    elif not found.damage:
        show(f"{printable(found.path)}: sound", *fact_lines(facts(found)))
    else:
        for damage in found.damage:
            complain(f"{found.path}: {damage}")
    return DataError.exit_code if found.damage else 0


def facts(found: CheckReport) -> Iterator[tuple[str, str]]:
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
