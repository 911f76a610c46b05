"""Who reads mail: threads of this machine, or a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from spamnb.errors import needs_extra

if TYPE_CHECKING:
    from spamnb.training.batches import Pool


def open_pool(jobs: int | str | None) -> AbstractContextManager[Pool]:
    """Return so many threads of this process; or a Dask cluster, by its scheduler's address or file."""
    if not isinstance(jobs, str):
        from spamnb.workers.local import LocalPool

        return nullcontext(LocalPool(jobs))
    try:
        from spamnb.workers.cluster import connected
    except ModuleNotFoundError as error:
        raise needs_extra("a cluster", "cluster") from error
    return connected(jobs)
