"""The help of all commands: short lines, plain metavars, what most people need first."""

import re

import click
import pytest

from spamnb.cli import main
from spamnb.cli.shared.help import RareOption


def contexts():
    top = click.Context(main, info_name="spamnb", **main.context_settings)
    yield top
    for name in main.list_commands(top):
        command = main.get_command(top, name) or main
        ctx = click.Context(command, info_name=name, parent=top)
        yield ctx
        if isinstance(command, click.Group):
            yield from (
                click.Context(sub, info_name=sub_name, parent=ctx)
                for sub_name, sub in command.commands.items()
            )


ALL = {ctx.command_path.removeprefix("spamnb").strip(): ctx for ctx in contexts()}
MEANINGLESS = re.compile(r"RANGE|\b(INTEGER|FLOAT|TEXT|BOOLEAN)\b|x[<>]=|\[default: \(")


@pytest.mark.parametrize("name", ALL)
def test_help_shows_what_most_people_need_and_help_all_the_rest(spamnb, name):
    options = [option for option in ALL[name].command.params if isinstance(option, click.Option)]
    rare = {option.opts[-1] for option in options if isinstance(option, RareOption)}
    common = {option.opts[-1] for option in options} - rare
    shown = []
    for flag in ("--help", "--help-all"):
        wide = {**spamnb.environment, "COLUMNS": "200"}
        text = spamnb(*name.split(), flag, env=wide).succeeds().out.decode()
        assert [line for line in text.splitlines() if len(line) > 80] == []
        assert not MEANINGLESS.search(text)
        shown.append(set(re.findall(r"^  (?:-\w, )?(-[\w-]+)", text, re.M)))
    first, everything = shown
    assert common <= first <= everything
    assert not rare & first
    assert rare <= everything
    assert ("--help-all" in first) == bool(rare)
    assert len(common) <= 15


def test_every_option_is_told_in_a_sentence():
    for name, ctx in ALL.items():
        for option in ctx.command.get_params(ctx):
            if isinstance(option, click.Option):
                text = option.help or ""
                assert text, (name, option.name)
                assert text[-1] in ".…", text
                assert len(text) <= 130, text
