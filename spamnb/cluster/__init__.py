"""Work on a Dask cluster that is there already, or on one started here: the same results, byte for byte."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spamnb.cluster.crew import Cluster


LOCAL = "local"


@contextmanager
def connected(
    address: str, paths: Sequence[str], jobs: int | None = None, skip_unreadable: bool = False
) -> Iterator[Cluster]:
    """Workers for the mail below some paths. The address is that of a scheduler, or of the file it wrote;
    `local` starts workers here."""
    try:
        from spamnb.cluster.connecting import client_of
        from spamnb.cluster.crew import Cluster
    except ModuleNotFoundError as error:
        raise UsageError("a cluster needs an extra: pip install 'spamnb[cluster]'") from error
    with client_of(address, jobs) as client:
        yield Cluster(client, paths, skip_unreadable)
