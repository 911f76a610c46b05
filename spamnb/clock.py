"""The current day, as stored in models."""

import os
import time

DAY = 86400  # seconds


def today() -> int:
    """Return the number of days since 1 January 1970, in UTC.

    If $SOURCE_DATE_EPOCH (seconds) is set, use this time, so that the same mail gives exactly the same file.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (int(fixed) if fixed.isdecimal() else int(time.time())) // DAY
