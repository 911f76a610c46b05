"""Write the manual pages below man/: of each command from its own help, the others from docs/.

docs/commands.md has the help of all commands as well.
`make man` runs this; tests/test_man.py fails where a page is not what this would write.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

from spamnb.cli import NAME, main
from spamnb.cli.shared.help import SHOW_ALL

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
FROM_DOCS = ("spamnb-model(5)", "spamnb.toml(5)", "spamnb.imap(5)", "spamnb-filters(7)")
# What groff would draw as another character: what is copied from a page is to be what was meant.
PLAIN = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})
TEXT = str.maketrans({"\\": r"\e", "'": r"\(aq", "`": r"\(ga"})
FAILURE = re.compile(r"^(?:## |\*\*)When .* fails?\b", re.MULTILINE)


def pages() -> dict[str, str]:
    """Make all pages, by their paths below man/."""
    made = {f"man1/{title}.1": text for title, text in command_pages()}
    for page, purpose, markdown in zip(
        FROM_DOCS,
        (
            "what spamnb has learned, as a file",
            "configuration of spamnb, and lists of senders",
            "accounts of spamnb imap",
            "recipes for mail systems",
        ),
        (read("model-file.md"), read("configuration.md"), read("imap-file.md"), recipes()),
        strict=True,
    ):
        title, section = page.rstrip(")").split("(")
        others = see_also(f"{NAME}(1)", *(other for other in FROM_DOCS if other != page))
        made[f"man{section}/{title}.{section}"] = (
            head(title, section, purpose) + from_markdown(markdown) + others
        )
    made["../docs/commands.md"] = reference()
    return made


def head(title: str, section: str, purpose: str) -> str:
    """Return the start of a page without hyphenation and justification."""
    return (
        f'.TH "{plain(title.upper())}" {section} "" {NAME} "{NAME} manual"\n.nh\n.ad l\n'
        f".SH NAME\n{plain(title)} \\- {plain(purpose[0].lower() + purpose[1:])}\n"
    )


def see_also(*names: str) -> str:
    parts = (plain(name).replace("(", " (") for name in names)
    return ".SH SEE ALSO\n" + " ,\n".join(f".BR {part}" for part in parts).replace(" ,", ",") + "\n"


def plain(text: str, characters: dict[int, str] = PLAIN) -> str:
    """Escape a text for troff."""
    return re.sub(r"^(?=\.)", r"\\&", text.translate(characters), flags=re.MULTILINE)


def literal(text: str) -> str:
    """Return lines that are shown unchanged."""
    return f".PP\n.RS 4\n.nf\n{plain(text.rstrip())}\n.fi\n.RE\n"


# Commands


def command_pages() -> Iterator[tuple[str, str]]:
    """Make the page of the program, and one for each command that it has."""
    top = click.Context(main, info_name=NAME, **main.context_settings)
    commands = [context_of(name, main, top) for name in main.list_commands(top)]
    for ctx in (top, *commands):
        title = ctx.command_path.replace(" ", "-")
        purpose = ctx.command.get_short_help_str(limit=1000).rstrip(".")
        seen = [f"{NAME}-{other.info_name}(1)" for other in commands] if ctx is top else [f"{NAME}(1)"]
        status = f".SH EXIT STATUS\n{plain((main.epilog or '').removeprefix('Exit codes: '))}\n"
        yield title, head(title, "1", purpose) + describe(ctx) + status + see_also(*seen, *FROM_DOCS)


def reference() -> str:
    """Write the help of every command, with all its options, as one page of the documentation."""
    top = click.Context(main, info_name=NAME, **main.context_settings, terminal_width=80)
    top.meta[SHOW_ALL] = True  # its contexts share it
    texts = (
        f"## {ctx.command_path}\n\n```text\n{ctx.get_help()}\n```\n" for ctx in (top, *contexts_below(top))
    )
    return "\n".join(["# Commands\n", "What `--help-all` prints, command by command.\n", *texts])


def contexts_below(ctx: click.Context) -> Iterator[click.Context]:
    """Yield the commands of a group, and their subcommands."""
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            own = context_of(name, ctx.command, ctx)
            yield own
            yield from contexts_below(own)


def context_of(name: str, group: click.Group, parent: click.Context) -> click.Context:
    command = group.get_command(parent, name)
    assert command, name
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def describe(ctx: click.Context, heading: str = ".SH") -> str:
    """Tell how a command is called, what it does, its options and examples; then of its own commands."""
    command = ctx.command
    usage = plain(" ".join(command.collect_usage_pieces(ctx)))
    options = [option for option in command.get_params(ctx) if isinstance(option, click.Option)]
    records = filter(None, (option.get_help_record(ctx) for option in options))
    made = f"{heading} SYNOPSIS\n.B {plain(ctx.command_path)}\n{usage}\n{heading} DESCRIPTION\n"
    made += "".join(map(paragraph, re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))))
    made += f"{heading} OPTIONS\n"
    made += "".join(f".TP\n.B {plain(names)}\n{plain(text)}\n" for names, text in records)
    if examples := getattr(command, "examples", ""):
        made += f"{heading} EXAMPLES\n{literal(inspect.cleandoc(examples))}"
    if isinstance(command, click.Group) and ctx.parent:
        for name in command.list_commands(ctx):
            own = context_of(name, command, ctx)
            made += f".SH {plain(own.command_path.upper())}\n{describe(own, '.SS')}"
    return made


def paragraph(text: str) -> str:
    r"""Write a paragraph of a help text; as for click, a \b before it keeps its lines."""
    return literal(text.removeprefix("\b\n")) if text.startswith("\b") else f".PP\n{plain(text)}\n"


# Pages of docs/


def read(path: str) -> str:
    return (DOCS / path).read_text()


def recipes() -> str:
    """Join the pages of docs/integrations, as they are listed there: of each its first recipe."""
    overview = read("integrations/README.md")
    listed = dict.fromkeys(re.findall(r"\]\((\w[\w-]*\.md)\)", overview))
    texts = {name: read(f"integrations/{name}") for name in listed}
    correct = texts["procmail.md"].partition("\n## Correct a mistake\n")[2]
    intro = "# Description\n" + overview.partition("\n| ")[0].partition("\n")[2].replace("page", "section")
    return "\n".join([intro, *map(first_recipe, texts.values()), "# Correct a mistake", correct])


def first_recipe(page: str) -> str:
    """Cut a page at the heading after what it says of failure, with which a recipe ends."""
    failure = FAILURE.search(page)
    end = page.find("\n## ", failure.end()) if failure else -1
    return page[:end] if end >= 0 else page


def from_markdown(text: str) -> str:
    """Write Markdown as a manual page; the only title of a text stands for its description."""
    root = Node(MarkdownIt("commonmark").enable("table").parse(text))
    titles = [node for node in root.children if node.tag == "h1"]
    main_level = "h2" if len(titles) == 1 else "h1"
    return "".join(block(node, main_level) for node in root.children)


def block(node: Node, main_level: str = "h1") -> str:
    """Write a heading, a paragraph, a list, a table, or lines of code."""
    match node.type:
        case "heading" if node.tag < main_level:
            return ".SH DESCRIPTION\n"
        case "heading" if node.tag == main_level:
            return f".SH {plain(node.children[0].content.replace('`', '').upper())}\n"
        case "heading":
            return f".SS {inline(node)}\n"
        case "paragraph":
            return f".PP\n{inline(node)}\n"
        case "fence" | "code_block":
            return literal(node.content)
        case "bullet_list" | "ordered_list":
            signs = (f"{at}." if node.type == "ordered_list" else r"\(bu" for at in range(1, 1000))
            return "".join(
                f".IP {sign} 4\n" + item(each) for sign, each in zip(signs, node.children, strict=False)
            )
        case "table":
            rows = [row for part in node.children if part.type == "tbody" for row in part.children]
            return "".join(map(table_row, rows)) + ".PP\n"
    raise ValueError(f"no way to write {node.type} in a manual page")


def item(node: Node) -> str:
    """Write what stands in a list's item."""
    first, *others = node.children
    return f"{inline(first)}\n" + "".join(block(each) for each in others)


def table_row(row: Node) -> str:
    """Write the first cell as a term, the last as what it means, others as a remark between them."""
    term, *others, meaning = (inline(cell) for cell in row.children)
    return f".TP\n{' '.join([term, *(f'({text})' for text in others if text)])}\n{meaning}\n"


def inline(node: Node) -> str:
    """Write the text in a block: code in bold, and behind what is a link its address."""
    match node.type:
        case "text":
            return plain(node.content, TEXT)
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            return rf"\fB{plain(node.content)}\fR"
    inside = "".join(inline(child) for child in node.children)
    match node.type:
        case "strong":
            return rf"\fB{inside}\fR"
        case "em":
            return rf"\fI{inside}\fR"
        case "link" if str(node.attrs["href"]).startswith("http"):
            return f"{inside} <{plain(str(node.attrs['href']))}>"
    return inside


if __name__ == "__main__":
    for folder in ("man1", "man5", "man7"):
        for old in (HERE / folder).glob("*"):
            old.unlink()
    for name, text in pages().items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
