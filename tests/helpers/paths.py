"""Paths of folders in the source tree, for tests in any folder."""

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
SPAMASSASSIN = ROOT / "corpora" / "spamassassin"
