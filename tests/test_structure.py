"""The house is in order: what pages name is there, no two classes share a name, docstrings stand alone."""

import ast
import re
from collections import Counter

from helpers.paths import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
MODULES = sorted((ROOT / "spamnb").rglob("*.py"))
PACKAGES = (
    "bayes cli configuration core delivery evaluation exchange history imap inspection mailboxes"
    " pages reading report review senders serve store thunderbird training workers"
).split()
TOP = "|".join(["spamnb", "tests", "bench", "docs", *PACKAGES])
NAMED = re.compile(rf"(?<![\w/.-])((?:{TOP})/[\w./-]*(?:\.pyx?|\.md|\.css|/))(?![\w*])")
# A first line that needs another one to be understood.
FRAGMENT = re.compile(r"(The same|Those|Of|Which|Some|And|But|Its?|Not|So)\b")


def test_what_pages_name_is_there():
    for page in PAGES:
        for path in NAMED.findall(page.read_text()):
            inside = [ROOT, ROOT / "spamnb", page.parent]
            assert any((folder / path).exists() for folder in inside), (page.name, path)


def test_every_package_is_on_the_page():
    page = (ROOT / "docs" / "architecture.md").read_text()
    packages = {path.parent.name for path in (ROOT / "spamnb").glob("*/__init__.py")}
    assert packages == set(PACKAGES)
    assert [name for name in sorted(packages) if f"| `{name}/` |" not in page] == []


def test_no_two_classes_share_a_name_and_docstrings_stand_alone():
    names, fragments = Counter[str](), []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                names[node.name] += 1
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                docstring = ast.get_docstring(node) or ""
                fragments += [(path.name, docstring)] if FRAGMENT.match(docstring) else []
    assert [name for name, times in names.items() if times > 1] == []
    assert fragments == []


def test_no_import_hides_from_the_linter_without_a_reason():
    """Which layer may import which is held by what `import` says; by name, all could import all."""
    by_name = re.compile(r"^(?!.*  # ).*(?:__import__|import_module)\(.*", flags=re.MULTILINE)
    assert [line for path in MODULES for line in by_name.findall(path.read_text())] == []
