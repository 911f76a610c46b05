"""The command line: parse, call, render."""

from __future__ import annotations

import click

from spamnb.cli.classify import classify
from spamnb.cli.completion import completion
from spamnb.cli.evaluate import evaluate
from spamnb.cli.inspect import inspect
from spamnb.cli.options import Command
from spamnb.cli.train import train
from spamnb.cli.tune import tune
from spamnb.errors import InputOutputError, UsageError

USAGE = UsageError.exit_code


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 success, 64 usage, 65 bad data, 66 no input, 73 cannot create, 74 input/output, "
    "75 try again. `spamnb COMMAND --help` shows examples.",
)
@click.version_option(package_name="spamnb")
def main() -> None:
    """A naive-Bayes spam filter for people who run their own mail.

    \b
    spamnb train ham/ spam/          learn from two folders or mailboxes
    spamnb classify < message        spam, ham or unsure?
    spamnb evaluate ham/ spam/       how good is it on this mail?
    spamnb inspect message           why was it judged so?
    spamnb tune ham/ spam/           which settings are best for this mail?
    """


for command in (train, classify, evaluate, inspect, tune, completion):
    main.add_command(command)


def command_line() -> int:
    """Run the command line; click's own exit codes 1 and 2 would read as verdicts, so they are remapped."""
    try:
        result = main.main(standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    except BrokenPipeError as error:
        raise InputOutputError("the reader of our output went away") from error
    return result if isinstance(result, int) else 0


__all__ = ["Command", "command_line", "main"]
