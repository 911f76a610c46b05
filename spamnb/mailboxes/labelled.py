"""Mail under each label: its chunks, and its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from spamnb.mailboxes.roles import roles_to_leave_out
from spamnb.mailboxes.sources import total_size

Sources = Mapping[str, Sequence[str]]  # the paths of each label


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
