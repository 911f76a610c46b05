"""The type of arrays of numpy, which evaluation, inspection and pages use."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
