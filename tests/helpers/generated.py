"""The examples that hypothesis generates: the same in every run, or new ones if $SPAMNB_EXAMPLES is `search`.

`make soak` tries new ones. If one fails, add it to the test as an `@example`: then each later run tries it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

PROFILE = os.environ.get("SPAMNB_EXAMPLES", "same")
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("same", max_examples=10, derandomize=True, database=None, **UNTIMED)
settings.register_profile(
    "search",
    max_examples=1000,
    derandomize=False,
    database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
    print_blob=True,
    **UNTIMED,
)
settings.load_profile(PROFILE)


def examples_times(factor: float) -> Callable[[Any], Any]:
    """Return a decorator for a test with slow examples: it tries `factor` times as many as other tests."""
    return settings(max_examples=max(1, round(settings().max_examples * factor)))
