"""Why a message is judged as it is."""

from __future__ import annotations

from spamnb.explain.described import described
from spamnb.explain.explanation import Explanation, Reason, Share, explain

__all__ = ["Explanation", "Reason", "Share", "described", "explain"]
