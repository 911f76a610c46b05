"""Labels of messages: what a spam filter learns, and the verdict between them."""

from __future__ import annotations

HAM, SPAM, UNSURE = "ham", "spam", "unsure"
