"""Every place where data of a stranger comes in is listed in SECURITY.md, with a test that is there."""

import re

import pytest
from helpers.paths import ROOT

from spamnb.cli import COMMANDS

PAGE = (ROOT / "SECURITY.md").read_text()
SECTION = PAGE.partition("## Where a stranger's data comes in\n")[2].partition("\n## ")[0]
NAMED = {word for code in re.findall("`([^`]+)`", SECTION) for word in code.split()}


def modules(folder: str, suffix: str = ".py") -> set[str]:
    return {path.stem for path in (ROOT / "spamnb" / folder).glob(f"*{suffix}")} - {"__init__"}


PLACES = {
    "core": modules("core", ".pyx") - {"native"},
    "attachments": modules("reading/attachments"),
    "mailboxes": modules("mailboxes"),
    "commands": set(COMMANDS),
}


@pytest.mark.parametrize("kind", PLACES)
def test_every_place_has_an_entry(kind):
    assert PLACES[kind] - NAMED == set()


def test_no_module_named_is_gone():
    there = {path.stem for kind in ("*.py", "*.pyx") for path in (ROOT / "spamnb").rglob(kind)}
    modules_named = [
        re.findall("`([a-z_]+)`", row.split("|")[1]) for row in SECTION.splitlines() if "|" in row
    ]
    assert {name for names in modules_named for name in names} - there - set(COMMANDS) == set()


def test_no_test_named_is_gone():
    text = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    there = {path.stem for path in (ROOT / "tests").rglob("*.py")} | set(re.findall(r"def (test_\w+)", text))
    assert set(re.findall(r"\btest_\w+", PAGE)) - there == set()


def test_the_tests_named_are_there():
    for row in SECTION.splitlines():
        if row.startswith("| ") and not row.startswith("| place"):
            paths = re.findall(r"tests/[\w/]+\.py", row.split("|")[-2])
            assert paths, row
            assert all((ROOT / path).exists() for path in paths), row
