"""Commands and their help: `--help` shows the common options, `--help-all` all of them."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

import click

from spamnb.cli.shared.settings import SETTINGS, with_settings_joined
from spamnb.errors import UsageError

SHOW_ALL = __name__  # a key of click's `ctx.meta`: if set, help shows rare options, too


class RareOption(click.Option):
    """An option that few people need: only `--help-all` and the manual page show it."""


rare_option = partial(click.option, cls=RareOption)


def _show_all(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[SHOW_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options and exit.",
)


class _WithHelpAll(click.Command):
    """A command with `--help-all`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options; rare ones come last, and only with --help-all."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        rare = [option for option in options if isinstance(option, RareOption)]
        common = [option for option in options if option not in rare and (rare or option is not HELP_ALL)]
        for title, shown in (("Options", common), ("More options", rare if SHOW_ALL in ctx.meta else [])):
            if records := [record for option in shown if (record := option.get_help_record(ctx))]:
                with formatter.section(title):
                    formatter.write_dl(records)


class Command(_WithHelpAll):
    """A command whose help ends with examples, printed unchanged."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {name for option in self.get_params(ctx) for name in option.opts}
        if SETTINGS in options:
            args = with_settings_joined(args, options)
        return super().parse_args(ctx, args)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples.strip().splitlines():
                formatter.write(" " * formatter.current_indent + line.strip() + "\n")  # never wrapped


class Group(_WithHelpAll, click.Group):
    """A group of commands; its help has no separate list of them, since its text shows them already."""

    command_class = Command


class Number(click.ParamType):  # type: ignore[type-arg]  # Debian 12 has click 8.1, not generic
    """A number within a range; any other value is a usage error."""

    name = "n"

    def __init__(self, least: float, most: float = inf, *, whole: bool = True) -> None:
        self.least, self.most, self.whole = least, most, whole

    def convert(self, value: Any, param: click.Parameter | None, _ctx: click.Context | None) -> float:
        try:
            number: float = int(value) if self.whole else float(value)
        except ValueError:
            number = -inf
        if not self.least <= number <= self.most or number == inf:
            name = param.opts[-1] if param else ""
            what = "whole number" if self.whole else "number"
            within = f"from {self.least} to {self.most}" if self.most < inf else f"of {self.least} or more"
            raise UsageError(f"{name} takes a {what} {within}, not {value!r}")
        return number
