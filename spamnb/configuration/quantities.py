"""Read percentages, days and sizes, by the same rules on the command line and in files."""

from spamnb.errors import UsageError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}  # bytes
MAX_DAYS, MAX_BYTES = 36500, 10**15
NO_NUMBER = -1


def parse_percentage(text: str, name: str = "--ham-loss") -> float:
    """Read a percentage, with or without a percent sign; return it as a share."""
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = -1.0
    if not 0 <= value <= 0.5:
        raise UsageError(f"{name} takes a percentage from 0 to 50, e.g. 0.1%, not {text!r}")
    return value


def parse_days(text: str, name: str = "--history-days", least: int = 1) -> int:
    """Read a number of days, as `90` or `90d`."""
    days = plain_number(text.removesuffix("d"))
    if not least <= days <= MAX_DAYS:
        raise UsageError(f"{name} takes a number of days, {least} or more, e.g. 90 or 90d, not {text!r}")
    return days


def parse_size(text: str, name: str = "--history-size", least: int = 10**6) -> int:
    """Read `200MB`, `1G` or a number of bytes."""
    number = text.upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in UNITS else ""
    size = plain_number(number.removesuffix(unit)) * UNITS[unit]
    if not least <= size <= MAX_BYTES:
        from_on = "1MB" if least == UNITS["M"] else least
        raise UsageError(f"{name} takes a size of {from_on} or more, e.g. 200MB or 2GB, not {text!r}")
    return size


def plain_number(text: str) -> int:
    """Return the whole number that a text is; NO_NUMBER if it is none, or too large."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else NO_NUMBER
