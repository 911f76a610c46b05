"""Who a message says it is from, against its other headers and what the receiving server found."""

from __future__ import annotations

import pytest

from spamnb.core.native import sender_tokens


def tokens(*headers):
    return sender_tokens(list(headers))


@pytest.mark.parametrize(
    ("reply_to", "to", "found"),
    [
        ("Ann <ann@mail.a.example>", "", "from:reply-to=same"),
        ("x@free.example", "you@b.example", "from:reply-to=other"),
        ("<list@l.example>", "The list <List@l.example>", "from:reply-to=to"),
        ("", "", ""),
    ],
)
def test_reply_to(reply_to, to, found):
    assert tokens(("to", to), ("reply-to", reply_to), ("from", "ann@a.example")) == found.split()


PASSED = "mx.b.example; dkim=pass (2048 bit) header.d=a.example header.i=@a.example"


def found_by_server(*values, sender="Ann <ann@mail.a.example>"):
    return tokens(("from", sender), *(("authentication-results", value) for value in values))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (PASSED, "dkim=pass,aligned,by=b.example from=@a.example,by=b.example"),
        ("mx.b.example 1; dkim=pass header.d=other.example", "dkim=pass,by=b.example"),
        ("b.example; spf=pass smtp.mailfrom=x@other.example smtp.helo=a.example", "spf=pass,by=b.example"),
        ("b.example; dkim=fail header.d=a.example", "dkim=fail,aligned,by=b.example"),
        ("dmarc=none action=none header.from=a.example", "dmarc=none,aligned,by="),  # as Microsoft's
        # What a sender can get into a comment or a quoted address says nothing.
        (
            "b.example; spf=fail (x; dkim=pass header.d=a.example) smtp.mailfrom=c.example",
            "spf=fail,by=b.example",
        ),
        (
            'b.example; spf=fail smtp.mailfrom="; dkim=pass header.d=a.example"@c.example',
            "spf=fail,by=b.example",
        ),
        ("b.example; spf=fail (a (b) ; dkim=pass (", "spf=fail,by=b.example"),
        ("b.example; dkim=; =pass; arc=pass; x", ""),
        ("", ""),
    ],
)
def test_what_the_server_found(value, found):
    assert found_by_server(value) == [f"auth:{token}" for token in found.split()]


def test_only_the_topmost_server_counts():
    failed = "mx.b.example; spf=fail smtp.mailfrom=a.example"
    assert found_by_server(failed, PASSED) == found_by_server(failed)
    assert found_by_server("mx.b.example; none", PASSED) == []


def test_an_international_domain_is_aligned_in_either_form():
    found = found_by_server("b.example; dkim=pass header.d=xn--fsqu00a.xn--fiqs8s", sender="x@例子.中国")
    assert found == ["auth:dkim=pass,aligned,by=b.example", "auth:from=@例子.中国,by=b.example"]
