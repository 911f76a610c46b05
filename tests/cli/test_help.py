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
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_lines_are_short_and_metavars_speak(spamnb, name, option):
    text = spamnb(*name.split(), option, env={**spamnb.environment, "COLUMNS": "200"}).succeeds().out.decode()
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert not MEANINGLESS.search(text)


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_told_in_a_sentence(name):
    for option in ALL[name].command.get_params(ALL[name]):
        if isinstance(option, click.Option):
            text = option.help or ""
            assert text, option.name
            assert text[-1] in ".…", text
            assert len(text) <= 130, text


@pytest.mark.parametrize("name", ALL)
def test_help_shows_what_most_people_need_and_help_all_the_rest(spamnb, name):
    options = [option for option in ALL[name].command.params if isinstance(option, click.Option)]
    rare = {option.opts[-1] for option in options if isinstance(option, RareOption)}
    common = {option.opts[-1] for option in options} - rare
    first, everything = (
        set(re.findall(r"^  (?:-\w, )?(-[\w-]+)", spamnb(*name.split(), flag).succeeds().out.decode(), re.M))
        for flag in ("--help", "--help-all")
    )
    assert common <= first <= everything
    assert not rare & first
    assert rare <= everything
    assert ("--help-all" in first) == bool(rare)
    assert len(common) <= 15


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("train --jobs x a b", "--jobs takes a whole number from 1 to 1024, not 'x'"),
        ("train --jobs 0 a b", "--jobs takes a whole number from 1 to 1024, not '0'"),
        ("history --limit 1.5", "--limit takes a whole number of 1 or more, not '1.5'"),
        ("serve --timeout nan", "--timeout takes a number of 0.1 or more, not 'nan'"),
        ("serve --timeout inf", "--timeout takes a number of 0.1 or more, not 'inf'"),
        ("imap watch --poll 2000", "--poll takes a number from 1 to 1740, not '2000'"),
    ],
)
def test_a_wrong_number_is_told_in_words(spamnb, line, why):
    spamnb(*line.split()).fails(64, why)
