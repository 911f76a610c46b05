"""The command line: parse, call, render. Each command is a module, which is imported when it is called."""

import sys
from importlib import import_module

import click

import spamnb
from spamnb.cli.shared.help import Group
from spamnb.cli.shared.streams import replace_stdout
from spamnb.errors import UsageError
from spamnb.files import write_stderr

NAME = "spamnb"
COMMANDS = (
    "train forget labels classify evaluate inspect history check prune merge backup export import serve imap "
    "thunderbird review config"
).split()


class Commands(Group):
    """A group of commands; the module of a command is imported when the command is called."""

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        function = "import_" if name == "import" else name
        module = import_module(f"spamnb.cli.{function}")  # by its name, as only one of eighteen is needed
        command: click.Command = getattr(module, function)
        return command


def print_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"spamnb {spamnb.__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    commands={name: click.Command(name) for name in COMMANDS},  # only their names, for completion and errors
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 64 usage, 65 bad data, 66 no input, 73 cannot create, 74 input/output, "
    "75 try again. `spamnb COMMAND --help` shows examples.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version.",
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """A naive-Bayes spam filter for people who run their own mail.

    \b
    spamnb train ham/ spam/          learn from two folders or mailboxes
    spamnb forget PATH...            take messages out of the model again
    spamnb labels                    list labels; rename OLD NEW; remove NAME
    spamnb classify < message        spam, ham or unsure?
    spamnb evaluate ham/ spam/       how good is it on this mail?
    spamnb inspect message           why did the message get its verdict?
    spamnb history                   recent verdicts
    spamnb check                     is the model damaged?
    spamnb prune                     drop old, rare words from the model
    spamnb merge OUT IN...           add up the models of several hosts
    spamnb backup FILE               copy the model, even while mail is learned
    spamnb export                    the model as text
    spamnb import EXPORT             import bogofilter's word list
    spamnb serve                     answer spamc, rspamc or a mail server
    spamnb imap COMMAND              filter mail that lives on an IMAP server
    spamnb thunderbird install       filter mail in Thunderbird, by an add-on
    spamnb review                    see and correct verdicts in a browser
    spamnb config                    show the configuration
    """
    if ctx.invoked_subcommand is None:
        write_stderr(ctx.get_help() + "\n")
        ctx.exit(UsageError.exit_code)


def command_line() -> int:
    """Run the command line; replace click's exit codes 1 and 2, which stand for verdicts in spamnb."""
    replace_stdout()
    try:
        result = main.main(prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        raise UsageError(message_with_help(error)) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    return result if isinstance(result, int) else 0


def message_with_help(error: click.UsageError) -> str:
    """Return the message of an error, and the command that shows help about it, on one line."""
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    path = error.ctx.command_path if error.ctx else " ".join((NAME, *named))
    return f"{' '.join(error.format_message().split())} (see: {path} --help)"
