"""A plugin of pytest: which tests are `slow`, and a guard that keeps all others fast.

Tests that are not slow run anywhere: they start no program but Python and spamnb, and no server.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.program import PROGRAM

# The long forms of tests, for `make soak`.
LONG = bool(os.environ.get("SPAMNB_LONG"))
only_long = pytest.mark.skipif(not LONG, reason="make soak has it")
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
    "test_markup_oracle.py": "another parser of HTML",
    "test_message_oracle.py": "another parser of mail, on each message",
    "test_metrics.py": "scikit-learn, which takes seconds to import",
    "test_narrow.py": "terminals of many widths",
    "test_oauth2.py": "IMAP servers and a provider of tokens",
    "test_oracle_sklearn.py": "scikit-learn",
    "test_remote.py": "servers",
    "test_runs.py": "IMAP servers",
    "test_servers.py": "IMAP servers",
    "test_start.py": "shells, and what a fresh process costs",
    "test_tune.py": "an evaluation for each setting",
    "test_watch.py": "IMAP servers",
}
# Audit events that start a program, with the place of the command in their details …
STARTING = {"subprocess.Popen": 1, "os.posix_spawn": 1}
# … and those that no fast test needs.
REFUSED = {"os.system", "os.exec", "os.spawn", "pty.spawn", "socket.bind"}


class NotFast(AssertionError):
    """A test that is not marked `slow` does what only a slow test may do."""


class Guard:
    """Refuses programs and servers while a test runs that is not marked `slow`."""

    def __init__(self) -> None:
        self.fast_test = ""  # the one that runs now

    def check(self, event: str, details: tuple[Any, ...]) -> None:
        """Look at one audit event; an exception keeps it from happening."""
        if not self.fast_test or (event not in STARTING and event not in REFUSED):
            return
        command = details[STARTING[event]] if event in STARTING else event
        words = [command] if isinstance(command, str | bytes | os.PathLike) else command
        program, *arguments = map(os.fsdecode, words)
        if program not in (sys.executable, PROGRAM) or "serve" in arguments:
            raise NotFast(f"{self.fast_test} starts {program}: mark it with @pytest.mark.slow")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.fast_test = "" if item.get_closest_marker("slow") else item.nodeid
        try:
            return (yield)
        finally:
            self.fast_test = ""


def pytest_configure(config: pytest.Config) -> None:
    guard = Guard()
    config.pluginmanager.register(guard)
    sys.addaudithook(guard.check)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.option.markexpr == FAST and collection_path.name in SLOW else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("needs") or not SLOW.keys().isdisjoint(item.path.parts):
            item.add_marker(pytest.mark.slow)
