"""Percentages, as the command line and the configuration take them."""

from spamnb.errors import UsageError


def parse_percentage(text: str | None, name: str = "--ham-loss") -> float | None:
    """Read a percentage, with or without its sign, as a share; None if there is none."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = -1.0
    if not 0 <= value <= 0.5:
        raise UsageError(f"{name} takes a percentage from 0 to 50, say 0.1%, not {text!r}")
    return value
