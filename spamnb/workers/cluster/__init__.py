"""Work on a Dask cluster that runs already, or on one started here: the same results, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.errors import UsageError

if TYPE_CHECKING:
    from spamnb.workers.cluster.pool import ClusterPool

LOCAL = "local"


@contextmanager
def connected(
    address: str, paths: Sequence[str], jobs: int | None = None, skip_unreadable: bool = False
) -> Iterator[ClusterPool]:
    """Open a pool for the mail below some paths.

    The address is that of a scheduler, or the file it wrote; `local` starts workers here.
    """
    try:
        from spamnb.workers.cluster.connecting import client_of
        from spamnb.workers.cluster.pool import ClusterPool
    except ModuleNotFoundError as error:
        raise UsageError("a cluster needs an extra: pip install 'spamnb[cluster]'") from error
    with client_of(address, jobs) as client:
        yield ClusterPool(client, paths, skip_unreadable)
