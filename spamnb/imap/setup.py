"""Adding an account to `imap.toml`, and describing its mailbox: folders, and mail to learn."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.configuration.tables import place_of_key
from spamnb.errors import CannotCreate, DataError, SpamnbError, UsageError
from spamnb.files import counted, make_folder
from spamnb.imap.accounts import FLAG, MOVE, WHY_ONE_ACCOUNT, check_name, read_accounts
from spamnb.imap.errors import Broken, ImapError
from spamnb.imap.folders import Roles, marked, roles_in
from spamnb.imap.kept import DAYS, MAX_LEARNED, MIN_KEPT, kept
from spamnb.labels import HAM, LABELS

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection

# Capabilities of a server that spamnb uses, and what it does without each.
USEFUL = {
    "MOVE": "spamnb copies a message, compares the copy, and removes the original",
    "UIDPLUS": "a message that was copied stays, flagged as deleted",
    "CONDSTORE": "spamnb looks at all flags at each visit",
    "IDLE": "spamnb asks for new mail every few minutes",
    "SPECIAL-USE": "spamnb finds folders by their names",
}


class Learned(NamedTuple):
    """A folder that training learns from, and how many of its messages are learned."""

    label: str
    folder: str
    messages: int
    of: int  # messages in the folder
    note: str = ""


def proposed_folders(account: Account, connection: ImapConnection) -> dict[str, Any]:
    """Propose `junk`, and as `ham` all mail, or else archive and inbox (if small, also sent mail)."""
    listed = connection.folders()
    roles = roles_in(account, listed, lambda *_: None)
    choices = [roles.all] if roles.all else [marked("archive", listed), *roles.inbox]
    counts = {name: learned_from(HAM, name, roles, connection).messages for name in filter(None, choices)}
    ham = [name for name, count in counts.items() if count]
    if sum(counts.values()) < MIN_KEPT and roles.sent:
        ham.append(roles.sent)
    return {"ham": ham, "junk": roles.junk}


def what_is_learned(account: Account, connection: ImapConnection) -> tuple[list[Learned], list[str]]:
    """Return the folders that training learns from, and warnings if they have too little ham or no spam."""
    roles = roles_in(account, connection.folders(), lambda *_: None)
    found = [learned_from(HAM, name, roles, connection) for name in roles.ham]
    found += [learned_from(label, name, roles, connection) for name, label in roles.labels.items()]
    ham, spam = (sum(one.messages for one in found if one.label == label) for label in LABELS)
    sent = sum(one.messages for one in found if one.folder == roles.sent)
    wrong = []
    if ham and ham == sent:
        wrong.append(
            "The only mail to keep is what you wrote yourself, which is unlike mail that you receive: much "
            "will be unsure or spam. Read mail, keep it in the inbox or an archive, try again."
        )
    elif ham - sent < MIN_KEPT:
        few = counted(ham - sent, "message")
        wrong.append(
            f"Only {few} that you received and keep: with fewer than {MIN_KEPT}, much mail stays unsure."
        )
    if not spam:
        wrong.append("No spam to learn from: until you move some into Junk, no mail is judged spam.")
    return found, wrong


def learned_from(label: str, name: str, roles: Roles, connection: ImapConnection) -> Learned:
    """Return how many messages training would learn from the folder `name`, and a note that says which."""
    connection.open(name, read_only=True)
    everything = len(connection.from_uid(1))
    if label != HAM:
        return Learned(label, name, everything, everything)
    count, note = len(kept(connection, roles, name)), ""
    if name in roles.inbox:
        note = f"read or answered, and there for {DAYS} days"
    elif name == roles.all:
        note = "except new mail in the inbox"
    elif name == roles.sent:
        note = "written by yourself"
    if count > MAX_LEARNED:
        count, note = MAX_LEARNED, ", ".join(filter(None, ("the latest", note)))
    return Learned(label, name, count, everything, note)


def has_account(path: str, name: str) -> bool:
    """Return whether the file `path` has the account `name`; raise DataError if the name is not allowed."""
    check_name(name)
    return os.path.exists(path) and name in {account.name for account in read_accounts(path)}


def check_new(path: str, host: str, user: str) -> None:
    """Raise UsageError if the file `path` already has an account for this host and user."""
    for account in read_accounts(path) if os.path.exists(path) else ():
        if account.mailbox == (host.lower(), user.lower()):
            there = f"{user} at {host} already has the account {account.name}; use that account"
            raise UsageError(f"{there}: {WHY_ONE_ACCOUNT}")


def add_account(path: str, name: str, values: dict[str, Any]) -> None:
    """Append the account `name` to `imap.toml`; if the file is new, only its owner can read it."""
    table = f"account.{name if name.isidentifier() else json.dumps(name)}"
    # For these values, TOML is written like JSON.
    lines = [f"[{table}]", *(f"{key} = {json.dumps(values[key], ensure_ascii=False)}" for key in values)]
    try:
        make_folder(os.path.dirname(path))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(handle, "a", encoding="utf-8") as file:
            file.write(("\n" if file.tell() else "") + "\n".join(lines) + "\n")
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error


def change_action(path: str, name: str, action: str) -> None:
    """Change the `action` of the account `name` in `imap.toml`; all other lines stay as they are."""
    path = os.path.realpath(path)
    place, _, number = place_of_key(path, "account", name, "action").rpartition(":")
    with open(place or path, encoding="utf-8") as file:
        lines = file.readlines()
    is_there = lines[int(number) - 1].split("=")[0].strip() == "action"
    lines[int(number) - is_there : int(number)] = [f'action = "{action}"\n']
    beside = f"{path}.{os.getpid()}"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.writelines(lines)
        with suppress(SpamnbError):
            if read_accounts(beside, name)[0].action == action:
                return os.replace(beside, path)
        os.unlink(beside)
        raise DataError(f'{path}: could not be changed; write action = "{action}" below [account.{name}]')
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error


def look_at(account: Account, connection: ImapConnection) -> dict[str, Any]:
    """Describe a mailbox, and what spamnb would do with its mail, without changing anything."""
    listed, missing = connection.folders(), []
    try:
        roles = roles_in(account, listed, lambda _, error: missing.append(str(error)))
        would = what_is_done(account, roles.junk, roles.unsure)
    except DataError as error:
        missing.append(str(error))
        roles = Roles((), (), junk="", unsure="", sent="")
        would = "nothing is done until the folders in imap.toml are right"
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
        return f"spam is moved to {junk}{doubt}; mail of people you know stays"
    if account.action == FLAG:
        return "spam is flagged $Junk, and stays where it is"
    return "spamnb only reports what it would do; to have spam moved: spamnb imap setup"
