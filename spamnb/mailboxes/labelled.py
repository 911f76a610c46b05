"""Mail under each label: its chunks, its size, and index files, which list messages with their labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from stat import S_ISDIR
from typing import Any

from spamnb.errors import DataError, NoInput
from spamnb.labels import LABELS, is_label
from spamnb.mailboxes.roles import roles_to_leave_out
from spamnb.mailboxes.sources import total_size
from spamnb.mailboxes.streams import reason_of

Sources = Mapping[str, Sequence[str]]  # the paths of each label


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
            raise DataError(f"{location}: {message}: listed as {label}, but before as {labels[normalized]}")
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
    label = label.lower() if label.lower() in LABELS else label
    if not is_label(label):
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


def chunks_by_label(sources: Sources, split: Callable[..., Iterable[Any]]) -> Iterator[tuple[Any, str]]:
    """Yield the chunks that `split` makes of the mail, and their labels.

    Mail named under one label is not met under another. Folders whose names speak against a label are left
    out.
    """
    for label, paths, limits in _with_limits(sources):
        for chunk in split(paths, **limits):
            yield chunk, label


def size_of(sources: Sources) -> int:
    """Bytes on disk of all mail that `chunks_by_label` finds."""
    return sum(total_size(paths, **limits) for _, paths, limits in _with_limits(sources))


def _with_limits(sources: Sources) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
    """Yield each label, its paths, and the options of `chunks` for what is not to be read below them."""
    all_paths = {path for paths in sources.values() for path in paths}
    for label, paths in sources.items():
        without = all_paths.difference(paths)
        yield label, paths, {"without": without, "leave_out": roles_to_leave_out(label)}
