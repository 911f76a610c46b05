"""One command for the models of many users."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from spamnb.cli.shared.options import path_type, refuse_without_effect
from spamnb.errors import NoInput, ReaderGone, SpamnbError, UsageError
from spamnb.files import complain, printable
from spamnb.rights import ROOT, Rights, take
from spamnb.user_models import UserModels

user_models_option = click.option(
    "--user-models",
    type=path_type,
    metavar="DIR",
    help="Do so with every DIR/USER/model.msgpack, or a path in which %u is the user.",
)


def for_every_model(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --user-models: it is called for each, and one that fails does not stop the others.

    Root calls it in a process that has only the rights of the model's owner.
    """

    @wraps(command)
    def called(user_models: str | None, **options: Any) -> int:
        if user_models is None:
            return command(**options) or 0
        refuse_without_effect("with --user-models", "model")
        is_root = not os.geteuid()
        models, codes = UserModels(user_models), []

        def run(user: str) -> int:
            path = models.find(user)
            if not options["as_json"]:
                click.echo(f"{printable(str(path))}:")
            return command(**options | {"model": path}) or 0

        def run_as_owner(user: str) -> int:
            rights = models.owner(user)
            return run(user) if rights == ROOT else in_process(run, user, rights)

        for user in models.users():
            codes.append(exit_code(run_as_owner if is_root else run, user))
            if codes[-1] == UsageError.exit_code:
                break  # it would be so for each of them
        if not codes:
            raise NoInput(f"{user_models}: no models there")
        return max(codes)

    return user_models_option(called)


def exit_code(run: Callable[[str], int], user: str) -> int:
    """Run a function for a user; an error becomes a line that names the user, and an exit code."""
    try:
        return run(user)
    except ReaderGone:
        raise
    except SpamnbError as error:
        complain(str(error) if isinstance(error, UsageError) else f"user {user}: {error}")
        return error.exit_code


def in_process(run: Callable[[str], int], user: str, rights: Rights) -> int:
    """Run a function for a user in a process with that user's rights; return its exit code."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = SpamnbError.exit_code
        try:
            take(rights)
            code = exit_code(run, user)
            sys.stdout.flush()
        except Exception as error:
            complain(f"user {user}: unexpected {type(error).__name__}: {error}")
        finally:
            os._exit(code)
    try:
        status = os.waitpid(child, 0)[1]
    except KeyboardInterrupt:
        os.waitpid(child, 0)  # which was told, too, and tidies up
        raise
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        raise SpamnbError(f"ended by signal {-code}")
    return code
