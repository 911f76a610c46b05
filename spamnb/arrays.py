"""The type of a numpy array, for type hints."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
