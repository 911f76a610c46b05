"""Passwords and tokens, read from the source that `imap.toml` names, and sent only to the mail server."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from spamnb.errors import CannotCreate, DataError, needs_extra
from spamnb.files import make_folder, open_own, state_folder

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

PATIENCE = 120  # seconds for a command: it may ask for a passphrase
SERVICE = "spamnb imap "  # before the name of a server, in the keyring
MAX_SECRET = 64 << 10  # bytes of a token


def secret_of(account: Account) -> str:
    """Return the password of an account, or its OAuth2 token, from the source that `imap.toml` names."""
    if account.password_command or account.oauth2_token_command:
        key = "password_command" if account.password_command else "oauth2_token_command"
        return first_line(key, output_of(key, getattr(account, key)))
    if account.password_file:
        path = os.path.expanduser(account.password_file)
        try:
            with open(path, "rb") as file:
                return first_line("password_file", file.read(MAX_SECRET))
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}") from error
    found: str | None = ask_keyring("get_password", account)
    if not found:
        raise DataError(
            "keyring: there is no password of this account; store it with "
            f"`keyring set '{SERVICE}{account.host}' '{account.user}'`"
        )
    return found


def write_password(name: str, password: str) -> str:
    """Write the password of the account `name` to a file that only this user can read; return its path."""
    path = os.path.join(state_folder("imap"), f"{name}.password")
    try:
        make_folder(os.path.dirname(path))
        with suppress(FileNotFoundError):
            os.unlink(path)
        with open(open_own(path, os.O_WRONLY | os.O_CREAT), "w", encoding="utf-8") as file:
            file.write(f"{password}\n")
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error
    return path


def output_of(key: str, command: str) -> bytes:
    """Run `command` in a shell and return its output; an error names `key`, the option with the command."""
    try:
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, timeout=PATIENCE)  # noqa: S602
    except (OSError, subprocess.TimeoutExpired) as error:
        why = f"took over {PATIENCE} s" if isinstance(error, subprocess.TimeoutExpired) else error.strerror
        raise DataError(f"{key}: {why}") from None
    if done.returncode:
        raise DataError(f"{key}: the command failed with exit code {done.returncode}; try it in a shell")
    return done.stdout


def first_line(key: str, data: bytes) -> str:
    try:
        line = data[:MAX_SECRET].decode().partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError:
        raise DataError(f"{key}: the password is not UTF-8 text") from None
    if not line:
        raise DataError(f"{key}: gave no password; the first line must be the password")
    return line


def ask_keyring(verb: str, account: Account, *password: str) -> Any:
    try:
        import keyring
    except ImportError:
        raise needs_extra("the keyring", "keyring") from None
    try:
        return getattr(keyring, verb)(f"{SERVICE}{account.host}", account.user, *password)
    except Exception as error:
        raise DataError(f"keyring: {' '.join(str(error).split())}") from None
