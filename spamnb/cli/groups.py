"""Groups of commands."""

import click


class ExampleGroup(click.Group):
    """Commands that the help lists by example, not once more by name."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pass
