"""What day it is, as models store it."""

from __future__ import annotations

import os
import time

DAY = 86400  # seconds


def today() -> int:
    """Days since 1970, in UTC.

    Of $SOURCE_DATE_EPOCH where that is set, as for any file that is to be the same whenever it is made.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (int(fixed) if fixed.isdecimal() else int(time.time())) // DAY
