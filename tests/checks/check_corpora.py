"""The sample corpora are what their README says."""

import hashlib
import lzma

import pytest
from helpers.paths import SPAMASSASSIN

COUNTS = {"ham": 3_900, "hard-ham": 250, "spam": 1_896}


@pytest.mark.parametrize("label", COUNTS)
def test_mailbox_is_as_described(label):
    packed = (SPAMASSASSIN / f"{label}.mbox.xz").read_bytes()
    mailbox = lzma.decompress(packed)
    readme = (SPAMASSASSIN / "README.md").read_text()
    assert f"{hashlib.sha256(packed).hexdigest()}  {label}.mbox.xz\n" in readme
    assert f"{hashlib.sha256(mailbox).hexdigest()}  {label}.mbox\n" in readme
    assert f"| {COUNTS[label]:,} |\n" in readme
    # Also for readers that want a blank line before an envelope.
    assert (b"\n\n" + mailbox).count(b"\n\nFrom ") == COUNTS[label]
