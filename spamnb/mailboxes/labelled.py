"""Mail under each label: its chunks, and its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.mailboxes.roles import roles_to_leave_out
from spamnb.mailboxes.sources import total_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Sources = Mapping[str, Sequence[str]]  # the paths of each label


def chunks_by_label(
    sources: Sources, split: Callable[..., Iterable[Any]], all_folders: bool = False
) -> Iterator[tuple[Any, str]]:
    """Yield the chunks that `split` makes of the mail, and their labels.

    Mail named under one label is not met under another. Folders whose names speak against a label are left
    out, unless `all_folders` are wanted.
    """
    for label, paths, limits in _with_limits(sources, all_folders):
        for chunk in split(paths, **limits):
            yield chunk, label


def size_of(sources: Sources, all_folders: bool = False) -> int:
    """Bytes on disk of all mail that `chunks_by_label` finds."""
    return sum(total_size(paths, **limits) for _, paths, limits in _with_limits(sources, all_folders))


def _with_limits(sources: Sources, all_folders: bool) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
    """Yield each label, its paths, and the options of `chunks` for what is not to be read below them."""
    all_paths = {path for paths in sources.values() for path in paths}
    for label, paths in sources.items():
        leave_out = frozenset[str]() if all_folders else roles_to_leave_out(label)
        yield label, paths, {"without": all_paths.difference(paths), "leave_out": leave_out}
