"""One command for the models of many users."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from spamnb.cli.shared.help import is_quiet
from spamnb.cli.shared.options import path_type, refuse_without_effect
from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.files import complain, printable
from spamnb.user_models import USER, UserModels

user_models_option = click.option(
    "--user-models",
    type=path_type,
    metavar="DIR",
    help="Do so with every DIR/USER/model.msgpack, or a path in which %u is the user; in other paths, too.",
)


def for_every_model(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --user-models: it is called for each, and one that fails does not stop the others."""

    @wraps(command)
    def called(user_models: str | None, **options: Any) -> int:
        if user_models is None:
            return command(**options) or 0
        refuse_without_effect("with --user-models", "model")
        models, codes = UserModels(user_models), []
        for user in models.users():
            try:
                path = models.find(user)
                if not (is_quiet() or options["as_json"]):
                    click.echo(f"{printable(str(path))}:")
                own = {name: for_user(value, user) for name, value in options.items()}
                codes.append(command(**own | {"model": path}) or 0)
            except UsageError:
                raise
            except SpamnbError as error:
                complain(f"user {user}: {error}")
                codes.append(error.exit_code)
        if not codes:
            raise NoInput(f"{user_models}: no models there")
        return max(codes)

    return user_models_option(called)


def for_user(value: Any, user: str) -> Any:
    """Put a user's name in place of %u into a text, or into each of several."""
    if isinstance(value, tuple):
        return tuple(for_user(each, user) for each in value)
    return value.replace(USER, user) if isinstance(value, str) else value
