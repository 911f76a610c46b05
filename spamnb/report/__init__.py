"""An evaluation as a page to look at: one HTML file that needs nothing else."""

from __future__ import annotations

from spamnb.report.page import report

__all__ = ["report"]
