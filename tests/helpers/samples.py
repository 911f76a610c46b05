"""Messages that are easy to tell apart."""

from __future__ import annotations

ENOUGH = 14  # messages of each label: from ten on there are cutoffs


def ham(n: int) -> bytes:
    return (
        b"From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: meeting notes %d\n"
        b"Date: Mon, 15 Nov 2026 10:%02d:00 +0100\n\n"
        b"agenda for tuesday, project review, thanks\nnumber %d\n" % (n, n % 60, n)
    )


def spam(n: int) -> bytes:
    return (
        b"From: Win <win@casino.example>\nTo: you@example.org\nSubject: cheap pills %d\n"
        b"Date: Mon, 15 Nov 2026 03:%02d:00 -0800\n\n"
        b"buy viagra now, casino bonus, CHEAP pills!!! http://casino.example/win%d\n" % (n, n % 60, n)
    )


def work(n: int) -> bytes:
    return b"From: boss@work.example\nSubject: deadline %d\n\nquarterly budget spreadsheet %d\n" % (n, n)
