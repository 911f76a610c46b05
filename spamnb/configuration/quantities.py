"""Read percentages, days and sizes, by the same rules on the command line and in configuration files."""

from spamnb.errors import UsageError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}  # bytes
MAX_DAYS, MAX_BYTES = 36500, 10**15
NO_NUMBER = -1


def parse_percentage(text: str, name: str = "--ham-loss") -> float:
    """Read a percentage such as `0.1%` or `0.1`, and return it as a share (0.001); errors mention `name`."""
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = -1.0
    if not 0 <= value <= 0.5:
        raise UsageError(f"{name} takes a percentage from 0 to 50, e.g. 0.1%, not {text!r}")
    return value


def parse_days(text: str, name: str = "--history-days", least: int = 1) -> int:
    """Read a number of days, written `90` or `90d`; `least` is the lowest number allowed."""
    days = plain_number(text.removesuffix("d"))
    if not least <= days <= MAX_DAYS:
        raise UsageError(f"{name} takes a number of days, {least} or more, e.g. 90 or 90d, not {text!r}")
    return days


def parse_size(text: str, name: str = "--history-size", least: int = 10**6) -> int:
    """Read a size such as `200MB`, `1G` or `5000000`; return it in bytes. `least`: the lowest allowed."""
    number = text.upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in UNITS else ""
    size = plain_number(number.removesuffix(unit)) * UNITS[unit]
    if not least <= size <= MAX_BYTES:
        from_on = "1MB" if least == UNITS["M"] else least
        raise UsageError(f"{name} takes a size of {from_on} or more, e.g. 200MB or 2GB, not {text!r}")
    return size


def plain_number(text: str) -> int:
    """Convert a text of 1 to 15 digits to a number; return NO_NUMBER for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else NO_NUMBER
