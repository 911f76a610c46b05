"""The current day, as stored in models."""

import os
import time

DAY = 86400  # seconds


def today() -> int:
    """Return the days since 1970, in UTC.

    If $SOURCE_DATE_EPOCH is set, that day is returned, so that the same mail gives exactly the same file.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (int(fixed) if fixed.isdecimal() else int(time.time())) // DAY
