"""Index files, as in the TREC spam track: a label and a message file on each line, in order of arrival."""

from __future__ import annotations

import os
from stat import S_ISDIR

from spamnb import HAM, SPAM, UNSURE
from spamnb.errors import DataError, NoInput
from spamnb.mailboxes.streams import reason_of


def read_index(path: str) -> list[tuple[str, str]]:
    """Read the label and the path of each message. Paths in the file are relative to its folder.

    Empty lines and those that begin with # are skipped, and so is a message listed twice under one label.
    """
    folder = os.path.dirname(path)
    labels: dict[str, str] = {}  # of each message, by its normalized path
    listed = []
    for number, line in enumerate(_read_lines(path), 1):
        location = f"{path}, line {number}"
        label, name = _parse_line(line, location)
        if not label:
            continue
        message = os.path.join(folder, name)
        normalized = os.path.normpath(message)
        if labels.get(normalized, label) != label:
            raise DataError(f"{location}: {message}: listed as {label}, and before as {labels[normalized]}")
        if normalized not in labels:
            _check_message(message, location)
            labels[normalized] = label
            listed.append((label, message))
    if not listed:
        raise DataError(f"{path}: lists no messages")
    return listed


def _read_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise NoInput(f"{path}: {reason_of(error)}") from error
    return [os.fsdecode(line).strip() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def _parse_line(line: str, location: str) -> tuple[str, str]:
    """Parse the label and path of a line; both are empty for a comment or an empty line."""
    if not line or line.startswith("#"):
        return "", ""
    label, *names = line.split(None, 1)
    if not names:
        raise DataError(f"{location}: a label and a path are needed, like: spam ../data/inmail.1")
    label = label.lower() if label.lower() in (HAM, SPAM) else label
    if label.lower() == UNSURE or not label.isprintable() or len(label) > 100:
        raise DataError(f"{location}: {label[:100]!r} cannot be a label")
    return label, names[0]


def _check_message(message: str, location: str) -> None:
    try:
        is_folder = S_ISDIR(os.stat(message).st_mode)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in it
        reason = reason_of(error) if isinstance(error, OSError) else "no such file"
        raise NoInput(f"{location}: {message}: {reason}") from error
    if is_folder:
        raise DataError(f"{location}: {message}: a folder, where a message is needed")
