"""Who reads and counts mail: the processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spamnb.workers.cluster.pool import ClusterPool
    from spamnb.workers.judges import LocalJudges
    from spamnb.workers.local import LocalPool


@contextmanager
def open_pool(
    paths: Sequence[str], cluster: str | None, jobs: int | None, skip_unreadable: bool
) -> Iterator[LocalPool | ClusterPool]:
    """Open the workers for the mail below some paths: those of a cluster, if its address is given."""
    if cluster is None:
        from spamnb.workers.local import LocalPool

        yield LocalPool(jobs)
        return
    from spamnb.workers.cluster import connected

    with connected(cluster, paths, jobs, skip_unreadable) as pool:
        yield pool


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
