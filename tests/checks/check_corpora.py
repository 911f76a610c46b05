"""The sample corpora are what their README says."""

from __future__ import annotations

import hashlib
import lzma
from collections import Counter

import pytest
from helpers.paths import ROOT

CORPORA = ROOT / "corpora"
SPAMASSASSIN = CORPORA / "spamassassin"
pytestmark = pytest.mark.skipif(not CORPORA.exists(), reason="the source distribution leaves the corpora out")

COUNTS = {"ham": 3_900, "hard-ham": 250, "spam": 1_896}


@pytest.mark.parametrize("label", COUNTS)
def test_mailbox_is_as_described(label: str) -> None:
    packed = (SPAMASSASSIN / f"{label}.mbox.xz").read_bytes()
    mailbox = lzma.decompress(packed)
    readme = (SPAMASSASSIN / "README.md").read_text()
    assert f"{hashlib.sha256(packed).hexdigest()}  {label}.mbox.xz\n" in readme
    assert f"{hashlib.sha256(mailbox).hexdigest()}  {label}.mbox\n" in readme
    assert f"| {COUNTS[label]:,} |\n" in readme
    assert mailbox.startswith(b"From ")
    assert mailbox.count(b"\nFrom ") + 1 == COUNTS[label]
    # Also for readers that want a blank line before an envelope.
    assert (b"\n\n" + mailbox).count(b"\n\nFrom ") == COUNTS[label]


def test_lecture_example_has_the_words_of_the_lecture() -> None:
    def documents_with_word(label: str) -> Counter[str]:
        paths = (CORPORA / "lectures" / "six" / label).glob("*.txt")
        return Counter(word for path in paths for word in set(path.read_text().split()))

    spam = {"password": 2, "review": 1, "send": 3, "us": 3, "your": 3, "account": 1}
    assert documents_with_word("spam") == Counter(spam)
    # "your" is in both; the lecture's own table says one.
    assert documents_with_word("ham") == Counter(password=1, review=2, send=1, us=1, your=2)
    files = sorted(path.name for path in (CORPORA / "lectures" / "six").glob("*/*"))
    assert files == ["D1.txt", "D2.txt", "D3.txt", "D4.txt", "D5.txt", "D6.txt"]
