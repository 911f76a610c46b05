"""Dates as senders write them."""

import pytest

from spamnb.reading.dates import timestamp

NOON = 1794830400  # of the 16th of November 2026, UTC


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Mon, 16 Nov 2026 13:00:00 +0100 (CET)", NOON),
        ("Mon, 16 Nov 26 07:00:00 EST", NOON),
        ("Mon, 16 Nov 0126 12:00:00 GMT", NOON),  # as 62 spams of 2002 write their year
        ("Mon Nov 16 12:00:00 2026", NOON),  # asctime
        ("16 Nov 2026 12:00:00 +9999", NOON),  # no such zone
        ("31 Dec 1969 23:59:60 GMT", -1),  # a leap second
        ("yesterday", None),
        ("31 Nov 2026 12:00:00", None),
        ("16 Nov 2026 24:00:00", None),
        ("16 Nov " + "9" * 5000, None),
    ],
)
def test_dates(date, seconds):
    assert timestamp(date) == seconds
