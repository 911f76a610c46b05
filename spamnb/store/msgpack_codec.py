"""Reading msgpack, and checking what was read. What is written is written by the library."""

from spamnb.core.native import Damaged as Damaged
from spamnb.core.native import unpack as unpack

inf = float("inf")


def is_number(value: object, least: float = -inf, most: float = inf) -> bool:
    """Tell whether a value is a number within limits; NaN never is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def is_integer(value: object, least: int = 0, most: int = (1 << 63) - 1) -> bool:
    """Tell whether a value is a whole number within limits."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
