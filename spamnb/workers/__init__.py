"""Who reads and counts mail: the processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.errors import UsageError

if TYPE_CHECKING:
    from spamnb.workers.cluster.pool import ClusterPool
    from spamnb.workers.judges import LocalJudges
    from spamnb.workers.local import LocalPool


@contextmanager
def open_pool(
    paths: Sequence[str], cluster: str | None, jobs: int | None = None, skip_unreadable: bool = False
) -> Iterator[LocalPool | ClusterPool]:
    """Open the workers for the mail below some paths: those of a Dask cluster, if one is given.

    That is the address of its scheduler, the file that this wrote, or `local`, to start workers here.
    """
    if cluster is None:
        from spamnb.workers.local import LocalPool

        yield LocalPool(jobs)
        return
    try:
        from spamnb.workers.cluster.connecting import client_of
        from spamnb.workers.cluster.pool import ClusterPool
    except ModuleNotFoundError as error:
        raise UsageError("a cluster needs an extra: pip install 'spamnb[cluster]'") from error
    with client_of(cluster, jobs) as client:
        yield ClusterPool(client, paths, skip_unreadable)


@contextmanager
def open_judges(
    paths: Sequence[str], cluster: str | None, jobs: int | None, skip_unreadable: bool
) -> Iterator[LocalJudges | ClusterPool]:
    """Open those of them that are only to judge mail, without numpy."""
    if cluster is None:
        from spamnb.workers.judges import LocalJudges

        yield LocalJudges(jobs)
        return
    with open_pool(paths, cluster, jobs, skip_unreadable) as pool:
        yield pool
