"""The documentation: no link leads nowhere, and every command in it is one that spamnb has."""

import re
import shlex

import click
import pytest
from helpers.paths import ROOT

from spamnb.cli import main

PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "bench/README.md",
    ROOT / "corpora/README.md",
]
FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Up to what ends a command in a shell, or two spaces, after which a line says what it does.
COMMAND = re.compile(
    r"""(?<![\w.:=-])spamnb (?=[a-z]|--version)((?: "[^"\n]*"| '[^'\n]*'|(?!  )[^|;&<>#`)"'\n])+)"""
)


def name(page):
    return page.relative_to(ROOT).as_posix()


def anchors(page):
    """The headings of a page, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page):
    """Everything after `spamnb ` in code blocks and between backticks."""
    text = page.read_text()
    indented = re.findall(r"^ {4}.*", text, re.MULTILINE)
    fenced = [found[0] for found in FENCED.finditer(text)]
    inline = re.findall(r"(?<!`)`([^`]+)`(?!`)", FENCED.sub("", text))
    return {line.strip() for code in (*indented, *fenced, *inline) for line in COMMAND.findall(code)}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if not re.match(r"https?:|mailto:", link):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", [page for page in PAGES if name(page) != "docs/commands.md"], ids=name)
def test_commands_are_those_that_spamnb_has(page):
    for line in sorted(commands(page)):
        command: click.Command | None = main
        words = shlex.split(line)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(click.Context(command), words.pop(0))
        assert command, line
        context = click.Context(command)
        values = command.make_parser(context).parse_args(words)[0]
        for option in command.params:
            if isinstance(option, click.Option) and option.name in values:
                option.type_cast_value(context, values[option.name])


def test_every_page_is_on_the_site():
    """Its navigation has all pages, and each once."""
    listed = re.findall(r"[\w./-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(map(name, PAGES))
