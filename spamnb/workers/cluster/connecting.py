"""Connect to a cluster, or start one, and check that it can be used."""

import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version

import dask
from distributed import Client, LocalCluster, Security
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.registry import get_backend

from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.workers.cluster import LOCAL, tasks
from spamnb.workers.processes import all_cores

TIMEOUT = 10  # seconds for a scheduler to answer, and for the first worker to come
CONNECT_TIMEOUT = 3  # seconds for the machine of a scheduler to accept a connection
MAX_GREETING = 1 << 16  # bytes of the message that a scheduler sends first
HINT = "name the file that the scheduler wrote, or its address: tcp://HOST:PORT"
DEFAULT_PORT = 8786  # where Dask's schedulers listen unless told otherwise
DASK_SETTINGS = {
    "distributed.admin.tick.limit": "1h",  # no warnings that this process is busy
    "distributed.comm.timeouts.connect": f"{TIMEOUT}s",
    # Nobody reads the dashboard of workers started here, and nobody else is to look in.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def client_of(address: str, jobs: int | None) -> Iterator[Client]:
    """Connect to the scheduler at an address, or to workers started here, and check them."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported once, by spamnb
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(DASK_SETTINGS))
        if address == LOCAL:
            client = stack.enter_context(_started_here(jobs or all_cores()))
        elif jobs is not None:
            raise UsageError("--jobs cannot be combined with a cluster, which has its own workers")
        else:
            client = stack.enter_context(_connected(address))
        _check(client, address)
        yield client


@contextmanager
def _started_here(workers: int) -> Iterator[Client]:
    """Start workers on this machine.

    Their connections are encrypted: other users of this machine must not give them orders.
    """
    with _ignoring_interrupts():
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address=None,
            scheduler_kwargs={"dashboard": False},
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
        )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Have processes started meanwhile ignore Ctrl-C: they would die of it, each with a traceback.

    A mask of signals would not do: multiprocessing lifts it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signal handlers
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler that runs already, by its address or the file that it wrote."""
    try:
        scheduler = _address_in(address) if os.path.exists(address) else address
        _check_listening(scheduler)
        client = Client(scheduler, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, LookupError, TypeError) as error:  # Dask's own errors are OSErrors
        why = (getattr(error, "strerror", None) or " ".join(str(error).split()))[:200]
        raise NoInput(f"{address}: no cluster answers there: {why}; {HINT}") from error
    with client:
        yield client


def _address_in(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return str(json.load(file)["address"])


def _check_listening(address: str) -> None:
    """Raise an OSError if no scheduler listens there.

    Dask would try again and again, wait for ever for a server that sends nothing, and take what a server of
    another kind sends for the length of a message.
    """
    protocol, place = parse_address(address)
    get_backend(protocol)  # raises ValueError if there is no such protocol
    if protocol not in ("tcp", "tls"):
        return
    with socket.create_connection(parse_host_port(place, DEFAULT_PORT), CONNECT_TIMEOUT) as connection:
        if protocol == "tcp":  # by TLS, the client speaks first
            length = int.from_bytes(connection.recv(8), "little")
            if not 0 < length <= MAX_GREETING:
                raise OSError("what listens there is no Dask scheduler")


def _check(client: Client, address: str) -> None:
    """Raise an error if there are no workers, or if they have another version of spamnb."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError as error:
        raise NoInput(f"{address}: the cluster has no workers; start some: dask worker {address}") from error
    here = version("spamnb")
    try:
        versions = client.run(tasks.installed_version)
    except Exception as error:
        why = " ".join(str(error).split())[:200]
        raise SpamnbError(f"{address}: its workers cannot run spamnb {here}: {why}") from error
    for worker, there in versions.items():
        if there != here:
            raise UsageError(f"{worker}: has spamnb {there}, but this machine {here}; install the same")
