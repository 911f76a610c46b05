"""Every place where data of a stranger comes in is listed in SECURITY.md, with a test that is there."""

import re

import pytest
from fuzz.targets import TARGETS
from helpers.paths import ROOT

from spamnb.cli import COMMANDS
from spamnb.review.app import SCRIPT, STYLE

PACKAGE = ROOT / "spamnb"
SECTION = (ROOT / "SECURITY.md").read_text().partition("## Where a stranger's data comes in\n")[2]
SECTION = SECTION.partition("\n## ")[0]
NAMED = {word for code in re.findall("`([^`]+)`", SECTION) for word in code.split()}


def modules(folder: str, suffix: str) -> list[str]:
    return [path.stem for path in (PACKAGE / folder).glob(f"*{suffix}") if path.stem != "__init__"]


def routes() -> list[str]:
    source = (PACKAGE / "review" / "app.py").read_text()
    found = re.findall(r"\bRoute\(\s*f?\"([^\"]+)\"", source)
    assert len(found) == source.count(" Route(")
    return [route.format(STYLE=STYLE, SCRIPT=SCRIPT) if "files" in route else route for route in found]


def protocols() -> list[str]:
    """Modules of the server that answer strangers: they read what a connection brings."""
    pattern = re.compile(r"\bConversation\b|\bIncoming\b|\bmetrics_page\b")
    names = modules("serve", ".py")
    found = [name for name in names if pattern.search((PACKAGE / "serve" / f"{name}.py").read_text())]
    return [*(name for name in found if name not in ("conversation", "connections", "listeners")), "metrics"]


PLACES = {
    "parsers": modules("reading", ".pxd") + modules("html", ".pxd"),
    "encodings": set(modules("reading/encodings", ".py")) - {"letter_tables"},
    "attachments": modules("reading/attachments", ".py"),
    "mailboxes": modules("mailboxes", ".py") + modules("mailboxes/formats", ".py"),
    "commands": COMMANDS,
    "pages": routes(),
    "protocols": protocols(),
}


@pytest.mark.parametrize("kind", PLACES)
def test_every_place_has_an_entry(kind):
    assert len(PLACES[kind]) > 2
    assert set(PLACES[kind]) <= NAMED, set(PLACES[kind]) - NAMED


def test_the_tests_named_are_there():
    for row in SECTION.splitlines():
        if row.startswith("| ") and not row.startswith("| place"):
            paths = re.findall(r"tests/[\w/]+\.py", row.split("|")[-2])
            assert paths, row
            assert all((ROOT / path).exists() for path in paths), row
    targets = [
        name for names in re.findall(r'make fuzz ARGS="?([\w ]+)"?`', SECTION) for name in names.split()
    ]
    assert targets
    assert set(targets) <= set(TARGETS)
