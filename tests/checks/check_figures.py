"""Figures on the pages are those of runs on record, and no other figure stands there."""

import re
from importlib import import_module

import pytest
from helpers.paths import ROOT

NUMBER = r"(?<![\w.,])\d[\d.,]*"
UNIT = (
    r"ms|µs|MB(?:/s)?|GB|msg/s|×|messages?\s+a\s+second|s\s+of\s+CPU|times\s+(?:as|what)"
    r"|%\s+(?:of\s+(?:the|all|its)\s+(?:\w+\s+)?(?:spam|ham|mail)|of\s+(?:spam|ham|mail)|caught|unsure|missed|lost|better|more)"
)
MEASURED = re.compile(rf"{NUMBER}\s?(?:{UNIT})(?!\w)")
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$", re.DOTALL | re.MULTILINE)
# What was set or chosen, or belongs to another program; not measured.
CHOSEN = {
    "0.1 % of the ham",
    "0.75 % of the spam",
    "5 % of the ham",
    "25 ms",
    *(f"{size} MB" for size in (1, 4, 8, 16, 50, 64, 100, 120, 150, 200, 256, 300, 400, 512)),
    "200MB",
}


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    return import_module("figures")


def test_pages_show_what_is_on_record(figures):
    pages = {page: page.read_text() for page in figures.PAGES}
    differ = [str(page.relative_to(ROOT)) for page, text in pages.items() if figures.written(text) != text]
    assert differ == [], "make figures"


def test_no_figure_stands_outside(figures):
    found = {
        (page.name, " ".join(each[0].split()))
        for page in figures.PAGES
        for each in MEASURED.finditer(
            CODE.sub("", figures.OUTPUT.sub("", figures.BLOCK.sub("", page.read_text())))
        )
    }
    outside = {(page, figure) for page, figure in found if figure not in CHOSEN}
    assert outside == set(), "say it in a table of a run on record: bench/figures.py"
