"""Where things are in the source tree, wherever a test lies."""

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
SPAMASSASSIN = ROOT / "corpora" / "spamassassin"
