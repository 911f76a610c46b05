"""The Date of a message → seconds since 1970, as far as what senders write there can be understood."""

from __future__ import annotations

MAX_DATE = 200  # characters looked at; the longest real date has 43, and filters' debris after it

_MONTHS = {
    name: number for number, name in enumerate("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# RFC 5322 gives a meaning to these names only. All others, and the letters of the military, are taken for UT.
_ZONES = {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
_BEFORE_1970 = 719_162  # days from the first of January of the year 1


def timestamp(date: str) -> int | None:
    """Seconds since 1970; None where there is no day, or none such.

    A date without a time is midnight, a time without a zone that of UT.

    >>> timestamp("Mon, 16 Nov 2026 01:02:03 +0100 (CET)")
    1794787323
    >>> timestamp("yesterday") is None
    True
    """
    found = _Found()
    for word in _uncommented(date[:MAX_DATE]).upper().replace(",", " ").replace("/", "-").split():
        found.add(word)
    return found.seconds()


class _Found:
    """What the words of a date said so far."""

    __slots__ = ("clock", "day", "month", "year", "zone")

    def __init__(self) -> None:
        self.day = self.month = self.year = -1
        self.clock: list[int] = []  # hour, minute, second
        self.zone = 0  # seconds ahead of UT

    def add(self, word: str) -> None:
        if ":" in word and not self.clock:
            day, _, clock = word.rpartition("T")  # as in 2026-11-16T01:02:03Z, and not 01:02:03EST
            self.add_day(day if ":" not in day else "")
            self.add_clock(clock if ":" not in day else word)
        elif not self.clock:
            self.add_day(word)
        elif word in ("AM", "PM"):
            self.clock[0] = self.clock[0] % 12 + 12 * (word == "PM") if self.clock[0] <= 12 else 24
        elif word in _ZONES:
            self.zone = 3600 * _ZONES[word]
        elif "+" in word or "-" in word:
            self.add_zone(word)
        else:
            self.add_day(word)  # Sat Nov 16 01:02:03 2026

    def add_day(self, text: str) -> None:
        """A day, month or year, or some of them: 16, 16-Nov-26, 2026-11-16."""
        for word in text.split("-"):
            if not (word.isascii() and word.isdigit()):
                if self.month < 0 or not self.clock:  # the last one: in some languages Tuesday is mar
                    self.month = _MONTHS.get(word[:3], self.month)
            elif len(word) > 2:
                self.year = _full_year(word) if self.year < 0 else self.year
            elif self.day < 0 and self.month < 0 <= self.year:
                self.month = int(word)
            elif self.day < 0:
                self.day = int(word)
            elif self.year < 0:
                self.year = _full_year(word)

    def add_clock(self, text: str) -> None:
        """01:02:03, with all that may cling to it."""
        end = min(text.find(sign) if sign in text else len(text) for sign in "+-")
        digits = text[:end].rstrip(_LETTERS)
        parts = [*digits.partition(".")[0].split(":"), "0", "0"][:3]
        self.clock = [int(part) if part.isascii() and part.isdigit() else 99 for part in parts]
        self.add(text[len(digits) : end])
        self.add(text[end:])

    def add_zone(self, text: str) -> None:
        """+0100, -05:30, GMT+1, and +-0500, which is meant for -0500."""
        digits = text.lstrip(_LETTERS).lstrip("+-").replace(":", "")
        if digits.isascii() and digits.isdigit() and len(digits) <= 4:
            hours, minutes = divmod(int(digits) if len(digits) > 2 else 100 * int(digits), 100)
            if hours < 24 and minutes < 60:
                self.zone = (60 * hours + minutes) * (-60 if "-" in text else 60)

    def seconds(self) -> int | None:
        hour, minute, second = self.clock or (0, 0, 0)
        if not (1900 <= self.year <= 9999 and 1 <= self.month <= 12 and 1 <= self.day <= 31):
            return None
        leap = self.year % 4 == 0 and (self.year % 100 != 0 or self.year % 400 == 0)
        if self.day > _DAYS[self.month] + (leap and self.month == 2):
            return None
        if hour > 23 or minute > 59 or second > 60:  # 60 is a leap second
            return None
        past = self.year - 1
        days = 365 * past + past // 4 - past // 100 + past // 400 - _BEFORE_1970
        days += sum(_DAYS[: self.month]) + (leap and self.month > 2) + self.day - 1
        return 86400 * days + 3600 * hour + 60 * minute + second - self.zone


def _full_year(digits: str) -> int:
    """As RFC 5322 reads short years: 26 is 2026, 99 is 1999, 102 is 2002. And 0102: 62 real spams say so."""
    year = int(digits)
    if len(digits) == 2 and year < 50:
        return year + 2000
    return year + 1900 if year < 1000 else year


def _uncommented(text: str) -> str:
    if "(" not in text:
        return text
    kept, depth = [], 0
    for char in text:
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
            kept.append(" ")
        elif not depth:
            kept.append(char)
    return "".join(kept)
