"""The pages themselves: all are listed, and what they say of mistakes is so."""

import pytest
from helpers.recipes import PAGES, recipe

NAMES = sorted(page.name for page in PAGES.glob("*.md"))


def test_every_page_is_listed():
    index = (PAGES / "README.md").read_text()
    assert [name for name in NAMES if f"]({name})" not in index] == ["README.md"]


@pytest.mark.parametrize("page", ["procmail", "maildrop", "fdm"])
def test_a_mistake_is_corrected(home, mail, page):
    """With the message as it was delivered, the header in it; and back again."""
    raw = mail.messages["unknown"]
    (home.path / "message").write_bytes(home.spamnb("classify", "-p", stdin=raw).out)
    as_spam, as_ham = recipe(page, "Correct a mistake", "sh").splitlines()
    for line, label in ((as_spam, "spam"), (as_ham, "ham"), (as_spam, "spam")):
        home.run("sh", "-c", line)
        assert home.label_of(raw) == label
