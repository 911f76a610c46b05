"""The code blocks of the documentation, for tests to run as they stand."""

from pathlib import Path
from typing import NamedTuple

from helpers.paths import ROOT

PAGES = ROOT / "docs" / "integrations"


class Block(NamedTuple):
    heading: str
    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    """Return all fenced code blocks of a page that name a language."""
    found, heading, language, code = [], "", None, ""
    for line in page.read_text().splitlines(keepends=True):
        if line.startswith("```") and language is None:
            language, code = line[3:].strip(), ""
        elif line.startswith("```"):
            if language:
                found.append(Block(heading, language, code))
            language = None
        elif language is not None:
            code += line
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
    return found


def recipe(page: str, heading: str, language: str) -> str:
    """Return the only block of a language under a heading of docs/integrations/PAGE.md."""
    (code,) = recipes(PAGES / f"{page}.md", heading, language)
    return code


def recipes(page: Path, heading: str, language: str) -> list[str]:
    """Return all blocks of a language under a heading."""
    return [block.code for block in blocks(page) if (block.heading, block.language) == (heading, language)]
