"""`spamnb completion`."""

import click
from click.shell_completion import get_completion_class

from spamnb.cli.shared.options import Command

EXAMPLES = """
spamnb completion bash > ~/.local/share/bash-completion/completions/spamnb
spamnb completion zsh > ~/.zfunc/_spamnb
spamnb completion fish > ~/.config/fish/completions/spamnb.fish
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands and options in a shell."""
    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(ctx.find_root().command, {}, "spamnb", "_SPAMNB_COMPLETE").source())
