"""Why a message is judged as it is."""

from __future__ import annotations

from spamnb.inspection.explanation import Explanation, explain
from spamnb.inspection.reason import Reason

__all__ = ["Explanation", "Reason", "explain"]
