"""The report on an evaluation, an HTML page."""
