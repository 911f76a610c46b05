"""Links, rule by rule: this text has these links, this link gives these tokens."""

import pytest

from spamnb.core.native import link_tokens, links_in_text
from spamnb.reading.settings import Words

WORDS = Words()


def tokens(*links):
    return link_tokens(list(links), WORDS)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("two: http://a.example https://b.example/c", "http://a.example https://b.example/c"),
        ("<http://a.example/b>", "http://a.example/b"),
        ("http://a.example/?b=c&d=e%20f", "http://a.example/?b=c&d=e%20f"),
        ("no link, a//b, c:/d, www", ""),
        ("", ""),
        # without a scheme
        ("www.a.example", "http://www.a.example"),
        ("see www.a.example/b, or (www.b.example).", "http://www.a.example/b http://www.b.example"),
        ("mywww.a.example", ""),
    ],
)
def test_links_in_a_text(text, links):
    assert links_in_text(text) == links.split()


@pytest.mark.parametrize("mark", [".", ",", "!", "?", ")", "...", ").", "'", '"', ">"])
def test_punctuation_after_a_link_is_not_part_of_it(mark):
    assert links_in_text(f"See http://a.example/b{mark} And then") == ["http://a.example/b"]
    assert links_in_text(f"See www.a.example{mark}") == ["http://www.a.example"]


@pytest.mark.parametrize(
    "text",
    [
        *("详见http://a.example/b，谢谢", "（http://a.example/b）", "«http://a.example/b»"),
        *("voilà\u00a0http://a.example/b\u00a0!", "см.http://a.example/b…", "http://a.example/b\u200b"),
    ],
)
def test_links_in_other_scripts(text):
    assert links_in_text(text) == ["http://a.example/b"]


EXAMPLES = [
    *("http://ex%61mple.example/", "http://ｅｘａｍｐｌｅ.example/", "http://exam\u00adple.example/"),
    *("http://exam\u200bple.example/", "http://EXAMPLE.example/", "http://example。example/"),
    "http:\\\\example.example\\",
]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("HTTP://A.Example/Path", "a.example example /path"),
        ("http://x.y.www.shop.co.example", "www.shop.co.example shop.co.example co.example example"),
        ("http://a.example/buy/now.html?id=7&sale", "a.example example /buy /now /html /id /7 /sale"),
        ("http://bank.example@evil.example/", "evil.example example"),
        ("http://bücher.example/straße", "bücher.example example /strasse"),
        *((link, "") for link in ("mailto:ann@a.example", "cid:logo", "data:image/png;base64,AAAA")),
        *((link, "") for link in ("b.html", "/b/c", "#top", "?b=c", "/at/10:30", "page?time=10:30")),
        ("http://192.0.2.7/", "number 192.0. 192.0.2.7"),
        ("http://3221225991/", "number 3221225991"),
        ("http://0xC0.519/", "number 0xc0.519. 0xc0.519"),
        ("http://192.0.0x207/", "number 192.0. 192.0.0x207"),
        ("http://999.08.0.1/", "number 999.08. 999.08.0.1"),
        *((f"http://{host}/b", "例子.中国 中国 /b") for host in ("例子.中国", "例子。中国")),
        ("//cdn.example/b", "cdn.example example /b"),
        ("http://a.example/%76iagra", "a.example example /viagra"),
        ("http://a.example/%D0%B5%D0%B4%D0%B0", "a.example example /еда"),
        *((link, "example.example example") for link in EXAMPLES),
    ],
)
def test_tokens_of_a_link(link, expected):
    assert tokens(link) == [f"url:{word}" for word in expected.split()]


def test_an_ipv6_host():
    assert tokens("http://[2001:db8::1]:8080/b") != tokens("http://[2001:db9::1]:8080/b")
    assert "url:number" in tokens("http://[2001:db8::1]/b")
    assert tokens("http://[2001:db8::1]:8080/b") == tokens("http://[2001:db8::1]/b")


# Caps

MAX_LINKS, MAX_LINK = 500, 500  # links of a message, characters of one


@pytest.mark.parametrize("text", ["http://a.example/b ", "xwww.", "://"])
def test_a_flood_of_links_has_an_end(text):
    links = links_in_text(text * 100_000)
    found = link_tokens(links * 100, WORDS)
    assert len(links) <= MAX_LINKS
    assert len(found) <= MAX_LINKS * 30


def test_a_very_long_link():
    long = "http://a.example/" + "b/" * 500_000
    (link,) = links_in_text(long)
    assert len(link) <= MAX_LINK + 8
    assert tokens(long) == tokens(link)
    assert len(tokens(long)) < 30
    assert all(
        len(token) < 100 for token in tokens("http://" + "a." * 1000, "b" * 1000 + "://c", "d" * 99 + ":")
    )
