"""A plugin of pytest that marks tests as `slow`. Other tests start only Python and spamnb, and no server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# The long forms of tests, for `make soak`.
LONG = bool(os.environ.get("SPAMNB_LONG"))
only_long = pytest.mark.only_long
FAST = "not slow"  # as `make test-fast` asks for it
# Folders and files that are slow as a whole; they are not even imported when only fast tests run.
SLOW = {
    "faults": "kills processes, makes calls fail with strace",
    "hostile": "floods, timed and with little memory",
    "integrations": "mail programs",
    "serve": "servers",
    "test_cluster.py": "a cluster",
    "test_denied.py": "setpriv",
    "test_connection.py": "IMAP servers",
    "test_file_systems.py": "strace",
    "test_flips.py": "damage of every kind at many places",
    "test_faults.py": "IMAP servers on a bad network",
    "test_folding.py": "many processes at once",
    "test_journal_damage.py": "damage of every kind at many places",
    "test_metrics.py": "scikit-learn, which takes seconds to import",
    "test_narrow.py": "terminals of many widths",
    "test_oracle_sklearn.py": "scikit-learn",
    "test_remote.py": "servers",
    "test_runs.py": "IMAP servers",
    "test_start.py": "shells, and what a fresh process costs",
    "test_watch.py": "IMAP servers",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.option.markexpr == FAST and collection_path.name in SLOW else None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only_long: for `make soak` only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("needs") or not SLOW.keys().isdisjoint(item.path.parts):
            item.add_marker(pytest.mark.slow)
    left_out = {item for item in items if item.get_closest_marker("only_long") and not LONG}
    if left_out:
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
