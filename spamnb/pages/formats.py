"""Numbers as text for people."""

from collections.abc import Callable, Sequence

from spamnb.bayes.verdict import MAX_FLOAT

UNKNOWN = "–"
HUGE = 1e6  # scores of this size are written with an exponent


def count(value: int) -> str:
    return f"{value:,}"


def share(value: float | None) -> str:
    """Write a share between 0 and 1, such as precision or recall."""
    return UNKNOWN if value is None else f"{value:.4f}"


def percent(value: float | None) -> str:
    """Write a percentage with at least two significant digits, but at most four decimals."""
    if value is None:
        return UNKNOWN
    if not value:
        return "0"
    return f"{value:.{2 if value >= 1 else 3 if value >= 0.1 else 4}f}"


def interval_text(interval: Sequence[float] | None, form: Callable[[float | None], str]) -> str | None:
    """Return a 95 % interval as text, with both ends written by `form`; None for an unknown interval."""
    return f"{form(interval[0])} to {form(interval[1])}" if interval else None


def signed(value: float, decimals: int = 2) -> str:
    """Write a score or a weight, with a minus sign as wide as the plus sign."""
    if abs(value) >= MAX_FLOAT:
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{decimals}f}" if abs(value) < HUGE else f"{value:+.1e}"
    return text.replace("-", "−")


def short(value: float) -> str:
    """Write a count in few characters, to fit under a bar or beside an axis."""
    if value < 1000:
        return f"{value:g}"
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value / 1000:.{1 if value < 9950 else 0}f}".removesuffix(".0") + "k"


def tick(value: float) -> str:
    return f"{value:,.10g}".replace("-", "−")
