"""Dates as senders write them."""

import time
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.reading.dates import timestamp


def utc(*fields):
    return int(datetime(*fields, tzinfo=UTC).timestamp())


NOON = utc(2026, 11, 16, 12, 0, 0)


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 16 Nov 2026 12:00:00 +0000",
        "Mon, 16 Nov 2026 13:00:00 +0100 (CET)",
        "(a (nested) one) Mon, 16 (the 16th) Nov 2026 12:00:00 (GMT)",
        "16 Nov 2026 12:00:00 -0000",  # no weekday
        "16 Nov 2026 12:00 GMT",  # no seconds
        "Mon,16 Nov 2026 12:0:0 UT",
        "mon, 16 NOV 2026 12:00:00 z",
        "Monday, 16 November 2026 12:00:00",
        "Mon, 16 Nov 26 12:00:00 GMT",
        "Mon, 16 Nov 126 12:00:00 GMT",
        "Mon, 16 Nov 0126 12:00:00 GMT",
        "Monday, 16-Nov-26 12:00:00 GMT",  # RFC 850
        "Mon Nov 16 12:00:00 2026",  # asctime
        "Mon Nov 16 07:00:00 EST 2026",
        "16 Nov 2026 07:00:00 EST",
        "16 Nov 2026 08:00:00 EDT",
        "16 Nov 2026 04:00:00 PST",
        "16 Nov 2026 07:00:00EST",
        "16 Nov 2026 13:00:00GMT+1",
        "16 Nov 2026 12:00PM",
        "16 Nov 2026 12:00:00 A",  # RFC 5322: who knows what a military zone was meant for
        "16 Nov 2026 12:00:00 Eastern Daylight Time",
        "16 Nov 2026 17:30:00 +05:30",
        "16 Nov 2026 13:00:00 GMT+1",
        "16 Nov 2026 07:00:00 +-0500",
        "16 Nov 2026 12:00:00 +9999",  # no such zone
        "16 Nov 2026 12:00:00 0530",  # no sign: no zone
        "16 Nov 26 12:00:00 PM",
        "16 Nov 2026 08:00:00 AM -0400",
        "2026-11-16 12:00:00",
        "2026-11-16T13:00:00.123+01:00",
        "2026-11-16T12:00:00Z",
        "2026/11/16 Mon 12:00:00 GMT",
        "mar, 16 Nov 2026 12:00:00 +0000",  # a Tuesday in Madrid
        "Mon, 16 Nov 2026 12:00:00 +0000 and 500 words of a filter, version=2.40 3 Mar",
    ],
)
def test_noon(date):
    assert timestamp(date) == NOON


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Thu, 1 Jan 1970 00:00:00 +0000", 0),
        ("Wed, 31 Dec 1969 23:59:59 +0000", -1),
        ("29 Feb 2000 00:00:00 GMT", utc(2000, 2, 29)),
        ("31 Dec 49 00:00:00 GMT", utc(2049, 12, 31)),
        ("31 Dec 50 00:00:00 GMT", utc(1950, 12, 31)),
        ("16 Nov 2026", utc(2026, 11, 16)),  # midnight
        ("16 Nov 2026 12:30:00 AM", utc(2026, 11, 16, 0, 30)),
        ("31 Dec 2016 23:59:60 GMT", utc(2017, 1, 1)),  # a leap second
    ],
)
def test_others(date, seconds):
    assert timestamp(date) == seconds


@pytest.mark.parametrize(
    "date",
    [
        "",
        " ",
        "()",
        "yesterday",
        "Mon",
        "12:00:00",
        "16 Nov",
        "Nov 2026",
        "16/11/2026 12:00:00",  # or the 11th of the 16th?
        "32 Nov 2026 12:00:00",
        "31 Nov 2026 12:00:00",
        "0 Nov 2026 12:00:00",
        "29 Feb 1900 00:00:00",
        "29 Feb 2026 00:00:00",
        "2026-13-16 12:00:00",
        "16 Nov 2026 24:00:00",
        "16 Nov 2026 12:60:00",
        "16 Nov 2026 12:00:61",
        "16 Nov 2026 noon:00",
        "16 Nov 2026 :T",
        "16 Nov 2026 13:00:00 PM",
        "16 Nov 1026 12:00:00",
        "16 Nov 10000 12:00:00",
        "16 Nov " + "9" * 180,
        "١٦ Nov 2026",
    ],
)
def test_hopeless(date):
    assert timestamp(date) is None


moments = st.datetimes(
    datetime(1900, 1, 2),
    datetime(9999, 12, 30),
    timezones=st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-1439, 1439)),
)


@given(moments)
def test_what_python_writes(moment):
    moment = moment.replace(microsecond=0)
    assert timestamp(format_datetime(moment)) == (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    assert timestamp(moment.isoformat()) == timestamp(format_datetime(moment))


pieces = st.sampled_from(
    "16 Nov 2026 12:00 : - + / ( ) , T Z PM EST 0 99 0102 ² ١ İ +-1 1:2:3:4 --- :: 9-9-9-9".split(" ")
)


@given(st.text() | st.lists(pieces).map(" ".join) | st.lists(pieces).map("".join))
def test_no_text_raises(text):
    found = timestamp(text)
    assert found is None or utc(1899, 12, 31) <= found <= utc(9999, 12, 31, 23, 59, 59) + 86400


@pytest.mark.parametrize(
    "unit", ["(", ")", "1", "-", ":", "1:", "+1", " Nov", "16 Nov 2026 12:00:00 ", "\ud800"]
)
def test_length_costs_nothing(unit):
    start = time.process_time()
    timestamp(unit * 3_000_000)
    assert time.process_time() - start < 1
