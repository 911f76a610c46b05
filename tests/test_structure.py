"""The house is in order: what pages name is there, no two classes share a name, docstrings stand alone."""

import ast
import re
from collections import Counter

import pytest
from helpers.paths import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
MODULES = sorted((ROOT / "spamnb").rglob("*.py"))
ROOMS = (
    "bayes cli configuration delivery evaluation exchange history html imap inspection mailboxes"
    " pages reading report review senders serve store tables training workers"
).split()
TOP = "|".join(["spamnb", "tests", "bench", "docs", *ROOMS])
NAMED = re.compile(rf"(?<![\w/.-])((?:{TOP})/[\w./-]*(?:\.py|\.md|\.css|/))(?![\w*])")
# A first line that needs another one to be understood.
FRAGMENT = re.compile(r"(The same|Those|Of|Which|Some|And|But|Its?|Not|So)\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page):
    named = {path.rstrip("/") for path in NAMED.findall(page.read_text())}
    inside = [ROOT, ROOT / "spamnb", page.parent]
    assert [path for path in sorted(named) if not any((folder / path).exists() for folder in inside)] == []


def test_every_room_is_on_the_map():
    page = (ROOT / "docs" / "architecture.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "spamnb").glob("*/__init__.py")}
    assert rooms == set(ROOMS)
    assert [room for room in sorted(rooms) if f"| `{room}/` |" not in page] == []


def test_no_two_classes_share_a_name():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_docstrings_stand_alone():
    found = [
        (path.name, docstring.split("\n")[0])
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (docstring := ast.get_docstring(node))
        and FRAGMENT.match(docstring)
    ]
    assert found == []


def test_no_import_hides_from_the_linter_without_a_reason():
    """Which layer may import which is held by what `import` says; by name, all could import all."""
    by_name = re.compile(r"^(?!.*  # ).*(?:__import__|import_module)\(.*", flags=re.MULTILINE)
    assert [line for path in MODULES for line in by_name.findall(path.read_text())] == []


def test_no_test_imports_from_another():
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    assert re.findall(r"^\s*(?:from|import) test_\w+", tests, flags=re.MULTILINE) == []
