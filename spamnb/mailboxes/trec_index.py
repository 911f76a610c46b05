"""Index files, as in the TREC spam track: a label and a message file on each line, in the order they came."""

from __future__ import annotations

import os
from stat import S_ISDIR

from spamnb.bayes.verdict import HAM, SPAM, UNSURE
from spamnb.errors import DataError, NoInput
from spamnb.mailboxes.streams import why


def read_index(path: str) -> list[tuple[str, str]]:
    """The label and the path of each message. Paths in the file are relative to its folder.

    Empty lines and those that begin with # are passed over, and so is a message listed again under its label.
    """
    folder = os.path.dirname(path)
    labels: dict[str, str] = {}  # of each message, by its path without detours
    listed = []
    for number, line in enumerate(_lines(path), 1):
        here = f"{path}, line {number}"
        label, name = _entry(line, here)
        if not label:
            continue
        message = os.path.join(folder, name)
        plain = os.path.normpath(message)
        if labels.get(plain, label) != label:
            raise DataError(f"{here}: {message}: listed as {label}, and before as {labels[plain]}")
        if plain not in labels:
            _check(message, here)
            labels[plain] = label
            listed.append((label, message))
    if not listed:
        raise DataError(f"{path}: lists no messages")
    return listed


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise NoInput(f"{path}: {why(error)}") from error
    return [os.fsdecode(line).strip() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def _entry(line: str, here: str) -> tuple[str, str]:
    """Label and path of a line; empty if it has none to give."""
    if not line or line.startswith("#"):
        return "", ""
    label, *names = line.split(None, 1)
    if not names:
        raise DataError(f"{here}: a label and a path are needed, like: spam ../data/inmail.1")
    label = label.lower() if label.lower() in (HAM, SPAM) else label
    if label.lower() == UNSURE or not label.isprintable() or len(label) > 100:
        raise DataError(f"{here}: {label[:100]!r} cannot be a label")
    return label, names[0]


def _check(message: str, here: str) -> None:
    try:
        is_folder = S_ISDIR(os.stat(message).st_mode)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in it
        reason = why(error) if isinstance(error, OSError) else "no such file"
        raise NoInput(f"{here}: {message}: {reason}") from error
    if is_folder:
        raise DataError(f"{here}: {message}: a folder, where a message is needed")
