"""Links, rule by rule: this text has these links, this link gives these tokens."""

import pytest

from spamnb.reading.links import (
    LONGEST_LINK,
    MOST_LINKS,
    link_tokens,
    links_in,
    registrable,
    unquoted,
)
from spamnb.reading.words import Words

WORDS = Words()


def tokens(*links):
    return link_tokens(list(links), WORDS)


# In a text


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("http://a.example", "http://a.example"),
        ("see http://a.example/b today", "http://a.example/b"),
        ("two: http://a.example https://b.example/c", "http://a.example https://b.example/c"),
        ("<http://a.example/b>", "http://a.example/b"),
        ('"http://a.example/b"', "http://a.example/b"),
        ("'http://a.example/b'", "http://a.example/b"),
        ("http://a.example/?b=c&d=e%20f", "http://a.example/?b=c&d=e%20f"),
        ("no link, a//b, c:/d, www", ""),
        ("", ""),
        # without a scheme
        ("www.a.example", "http://www.a.example"),
        ("see www.a.example/b, or (www.b.example).", "http://www.a.example/b http://www.b.example"),
        ("http://www.a.example", "http://www.a.example"),  # once
        ("mywww.a.example", ""),
    ],
)
def test_links_in_a_text(text, links):
    assert links_in(text) == links.split()


@pytest.mark.parametrize("mark", [".", ",", ";", ":", "!", "?", ")", "]", "...", "!!!", ").", "'", '"', ">"])
def test_punctuation_after_a_link_is_not_part_of_it(mark):
    assert links_in(f"See http://a.example/b{mark} And then") == ["http://a.example/b"]
    assert links_in(f"See http://a.example{mark}") == ["http://a.example"]
    assert links_in(f"See www.a.example{mark}") == ["http://www.a.example"]


@pytest.mark.parametrize(
    "before", ["(", "[", "{", "<", '"', "'", "*", "=", ":", "see:", "URL=", ">", ",", "|"]
)
def test_what_stands_before_a_link_is_not_part_of_it(before):
    assert links_in(f"See {before}http://a.example/b today") == ["http://a.example/b"]


@pytest.mark.parametrize(
    "text",
    [
        *("详见http://a.example/b，谢谢", "请看：http://a.example/b。", "（http://a.example/b）"),
        *("「http://a.example/b」", "“http://a.example/b”", "«http://a.example/b»"),
        *("voilà\u00a0http://a.example/b\u00a0!", "東京\u3000http://a.example/b\u3000へ"),
        *("см.http://a.example/b…", "http://a.example/b\u200b"),
    ],
)
def test_links_in_other_scripts(text):
    assert links_in(text) == ["http://a.example/b"]


# What a link says


EXAMPLES = [
    *("http://ex%61mple.example/", "http://ｅｘａｍｐｌｅ.example/", "http://exam\u00adple.example/"),
    *("http://exam\u200bple.example/", "http://EXAMPLE.example/", "http://example。example/"),
    "http:\\\\example.example\\",
]


IPV4_FORMS = ("192.0.2.7", "3221225991", "0xC0000207", "0300.0.02.07", "0xc0.519", "192.0.519")


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("http://example", "example"),
        ("http://a.example", "a.example example"),
        ("HTTP://A.Example/Path", "a.example example /path"),
        ("http://www.shop.co.example", "www.shop.co.example shop.co.example co.example example"),
        ("http://x.y.www.shop.co.example", "www.shop.co.example shop.co.example co.example example"),
        ("http://a.example/buy/now.html?id=7&sale", "a.example example /buy /now /html /id /7 /sale"),
        ("http://user@a.example/", "a.example example"),
        ("http://bank.example@evil.example/", "evil.example example"),
        ("http://a.example:8080/", "a.example example"),
        ("http://192.0.2.7/b", "number 192.0. 192.0.2.7 /b"),
        ("http://bücher.example/straße", "bücher.example example /strasse"),
        *((link, "") for link in ("mailto:ann@a.example", "cid:logo", "data:image/png;base64,AAAA")),
        *((link, "") for link in ("b.html", "/b/c", "#top", "?b=c", "/at/10:30", "page?time=10:30")),
        *((f"http://{form}/", "number 192.0. 192.0.2.7") for form in IPV4_FORMS),
        ("http://999.08.0.1/", "number 999.08. 999.08.0.1"),
        ("http://163.example/", "163.example example"),
        *((f"http://{host}/b", "例子.中国 中国 /b") for host in ("例子.中国", "例子。中国")),
        ("http://xn--bcher-kva.example", "xn--bcher-kva.example example"),
        ("http://оса.рф", "оса.рф рф"),
        ("//cdn.example/b", "cdn.example example /b"),
        ("http://a.example/%76iagra", "a.example example /viagra"),
        ("http://a.example/%D0%B5%D0%B4%D0%B0", "a.example example /еда"),
        *((link, "example.example example") for link in EXAMPLES),
    ],
)
def test_tokens_of_a_link(link, expected):
    assert tokens(link) == [f"url:{word}" for word in expected.split()]


def test_a_link_in_a_link():
    found = tokens("/go?to=http://evil.example/x")
    assert "url:evil.example" in found or "url:/evil" in found
    assert not [token for token in found if token.endswith(":")]


@pytest.mark.parametrize(
    "link", ["http:///b", "http://", "http://?b", "http://.", "http://@/", "http://:80/"]
)
def test_a_link_to_nowhere(link):
    assert "url:" not in tokens(link)
    assert "url:." not in tokens(link)


def test_an_ipv6_host():
    assert tokens("http://[2001:db8::1]:8080/b") != tokens("http://[2001:db9::1]:8080/b")
    assert "url:number" in tokens("http://[2001:db8::1]/b")
    assert tokens("http://[2001:db8::1]:8080/b") == tokens("http://[2001:db8::1]/b")


# Percent-escapes


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        ("", ""),
        ("%41bc", "Abc"),
        ("a%2Fb%2fc", "a/b/c"),
        ("%76%69%61%67%72%61", "viagra"),
        ("100%", "100%"),
        ("%zz%41", "%zzA"),
        ("%D1%81%D0%BA%D0%B8%D0%B4%D0%BA%D0%B0", "скидка"),
        ("caf%C3%A9", "café"),
    ],
)
def test_percent_escapes(escaped, text):
    assert unquoted(escaped) == text


# Caps


@pytest.mark.parametrize("text", ["http://a.example/b ", "www.a.example ", "xwww.", "://", "http://"])
def test_a_flood_of_links_has_an_end(text):
    links = links_in(text * 100_000)
    found = link_tokens(links * 100, WORDS)
    assert len(links) <= MOST_LINKS
    assert len(found) <= MOST_LINKS * 30


def test_a_very_long_link():
    long = "http://a.example/" + "b/" * 500_000
    (link,) = links_in(long)
    assert len(link) <= LONGEST_LINK + 8
    assert tokens(long) == tokens(link)
    assert len(tokens(long)) < 30
    assert all(
        len(token) < 100 for token in tokens("http://" + "a." * 1000, "b" * 1000 + "://c", "d" * 99 + ":")
    )


# What links show


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.org", "example.org"),
        ("a.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("..", "."),
        ("", ""),
    ],
)
def test_registrable(host, domain):
    assert registrable(host) == domain
