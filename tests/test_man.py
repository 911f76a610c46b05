"""Manual pages: what the generator would write, and what man makes of it."""

import json
import os
import subprocess
import sys
from dataclasses import fields

from helpers.paths import ROOT
from helpers.programs import needs
from helpers.waiting import PATIENCE
from markdown_it import MarkdownIt

from spamnb.configuration import DEFAULTS
from spamnb.imap.accounts import Account

PAGES = {str(path.relative_to(ROOT / "man")): path for path in (ROOT / "man").glob("man?/*")}
WRITTEN = PAGES | {"../docs/commands.md": ROOT / "docs" / "commands.md"}


def test_pages_are_current():
    """In a process of its own: click keeps the help option of whichever context asked for it first."""
    make = "import json, runpy, sys; print(json.dumps(runpy.run_path(sys.argv[1])['pages']()))"
    command = [sys.executable, "-c", make, str(ROOT / "man" / "generate.py")]
    made = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert {name: path.read_text() for name, path in WRITTEN.items()} == made, "run `make man`"


def first_cells(page):
    tokens = MarkdownIt().enable("table").parse((ROOT / "docs" / page).read_text())
    return [tokens[at + 2].content.strip("`") for at, token in enumerate(tokens) if token.type == "tr_open"]


def test_every_key_of_an_account_has_a_line():
    keys = [cell for cell in first_cells("imap-file.md") if cell != "key"]
    assert sorted(keys) == sorted(field.name for field in fields(Account)[1:])


def test_every_key_of_the_configuration_has_a_line():
    cells = first_cells("configuration.md")
    assert sorted(cell for cell in cells if cell in DEFAULTS) == sorted(DEFAULTS)
    start = cells.index("key") + 1
    assert set(cells[start : start + len(DEFAULTS)]) == set(DEFAULTS)


@needs("man")
def test_man_shows_all_without_warnings():
    shown = subprocess.run(
        ["man", "--warnings=all", "-E", "UTF-8", "-l", *PAGES.values()],
        capture_output=True,
        env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat"},
        timeout=PATIENCE,
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    for page in PAGES.values():
        assert f"{page.stem.upper()}(" in shown.stdout.decode()
