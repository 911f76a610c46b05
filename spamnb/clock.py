"""The current day, as models store it."""

import os
import time

DAY = 86400  # seconds


def today() -> int:
    """Days since 1970, in UTC.

    $SOURCE_DATE_EPOCH is the time if it is set, for files that must be the same whenever they are made.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (int(fixed) if fixed.isdecimal() else int(time.time())) // DAY
