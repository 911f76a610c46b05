"""A new account in `imap.toml`, and what a mailbox looks like to spamnb."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from spamnb.errors import CannotCreate, DataError, UsageError
from spamnb.files import make_folder
from spamnb.imap.accounts import FLAG, MOVE, read_accounts
from spamnb.imap.errors import Broken, ImapError
from spamnb.imap.folders import MARKS, Roles, marked, roles_in

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection

# What a server may have that spamnb makes use of, and what it does where a server has it not.
USEFUL = {
    "MOVE": "moves at once; without it, copies, looks at the copy, and removes the original",
    "UIDPLUS": "removes one message; without it, the original stays, flagged as deleted",
    "CONDSTORE": "notices changed flags; without it, asks at every visit",
    "IDLE": "tells of new mail; without it, is asked every few minutes",
    "SPECIAL-USE": "says which folder is which; without it, names tell",
}


def proposed_folders(connection: ImapConnection) -> dict[str, Any]:
    """Propose folders for a new account: what the mailbox has."""
    listed = connection.folders()
    found = {role: marked(role, listed) for role in MARKS}
    return {"ham": [found[role] for role in ("archive", "sent") if found[role]], "junk": found["junk"]}


def add_account(path: str, name: str, values: dict[str, Any]) -> None:
    """Add an account to the file, which only its owner may read."""
    if os.path.exists(path) and name in {account.name for account in read_accounts(path)}:
        raise UsageError(f"{path}: has an account {name} already; name another with --account")
    table = f"account.{name if name.isidentifier() else json.dumps(name)}"
    lines = [f"[{table}]", *lines_of({key: values[key] for key in values if key != "oauth2"})]
    if "oauth2" in values:
        lines += [f"[{table}.oauth2]", *lines_of(values["oauth2"])]
    try:
        make_folder(os.path.dirname(path))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(handle, "a", encoding="utf-8") as file:
            file.write(("\n" if file.tell() else "") + "\n".join(lines) + "\n")
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error


def lines_of(values: dict[str, Any]) -> list[str]:
    """Write values as TOML does, which for these is as JSON does."""
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]


def look_at(account: Account, connection: ImapConnection) -> dict[str, Any]:
    """Describe a mailbox, and what would be done with it, changing nothing."""
    listed, missing = connection.folders(), []
    try:
        roles = roles_in(account, listed, lambda _, error: missing.append(str(error)))
        would = what_is_done(account, roles.junk, roles.unsure)
    except DataError as error:
        missing.append(str(error))
        roles = Roles((), (), junk="", unsure="", sent="")
        would = "nothing is done until the folders are right in imap.toml"
    by_role = {
        "inbox": roles.inbox,
        "ham": roles.ham,
        "junk": (roles.junk,),
        **{label: (folder,) for label, folder in roles.sort.items()},
        **{role: (getattr(roles, role),) for role in ("unsure", "sent")},
    }
    found = [(name, role) for role, names in by_role.items() for name in names if name]
    used = {name for name, _ in found}
    found += [(name, "not used") for name, _ in listed if name not in used]
    folders = [{"folder": name, "is": role, **look_at_folder(name, connection)} for name, role in found]
    return {
        "account": account.name,
        "server": f"{account.host}:{account.port_number}",
        "tls": account.tls,
        "can": {name: connection.has(name) for name in USEFUL},
        "folders": folders,
        "missing": missing,
        "action": account.action,
        "would": would,
    }


def look_at_folder(name: str, connection: ImapConnection) -> dict[str, Any]:
    try:
        return {"messages": connection.count(name)}
    except Broken:
        raise
    except ImapError as error:
        return {"why": str(error)}


def what_is_done(account: Account, junk: str, unsure: str) -> str:
    if account.action == MOVE:
        doubt = f", unsure mail to {unsure}" if unsure else ""
        return f"spam is moved to {junk}{doubt}; from people you wrote to, it is only flagged"
    if account.action == FLAG:
        return "spam is flagged $Junk, and stays where it is"
    return 'it is only said what would be done; action = "flag" or "move" does it'
