"""Addresses like s3://bucket/folder/: the file system of fsspec that has them, and the meaning of its errors.

Whatever a backend raises becomes an OSError. No other host is asked than that of the address.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from logging import NullHandler, getLogger
from threading import get_ident
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError, UsageError

try:
    from fsspec.asyn import sync
    from fsspec.config import conf
    from fsspec.core import url_to_fs
except ImportError:
    raise UsageError("addresses with :// need an extra: pip install 'spamnb[cluster]'") from None

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_REASON = 300  # characters of a backend's error message
TIMEOUT = 60  # seconds for an answer; by its own rules s3fs would ask again and again for six minutes
LOGGERS = ("asyncio", "fsspec", "s3fs", "aiobotocore", "gcsfs", "azure", "paramiko", "smbprotocol")

# Clients of Amazon and Google ask a metadata service where they find no credentials; here, if told to.
for name in ("AWS_EC2_METADATA_DISABLED", "NO_GCE_CHECK"):
    os.environ.setdefault(name, "true")
for name in LOGGERS:  # else tracebacks would come between our lines, where nobody set up logging
    getLogger(name).addHandler(NullHandler())

# File systems, never released: to do so in a forked process closes connections its parent waits for.
_held: set[Any] = set()


def is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def located(url: str) -> tuple[Any, str]:
    """Find the file system of fsspec that has an address, and the path in it."""
    path, archive = split_chain(url)
    try:
        if archive:
            fs = _archive(path.partition("://")[0] + "://" + archive, os.getpid(), get_ident())
            path = fs._strip_protocol(path)
        else:
            fs, path = url_to_fs(url, **(_web_options() if is_web(url) else {}))
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        todo = f"pip install {cause.name}" if cause.name and cause.name in str(error) else str(error)
        raise UsageError(f"{url}: this needs another package: {todo}") from error
    except Exception as error:
        raise OSError(backend_reason(error, url)) from error
    _held.add(fs)
    return fs, path


@cache
def _web_options() -> dict[str, Any]:
    """Options for aiohttp. A file may take longer than its five minutes, but no server may fall silent."""
    from aiohttp import ClientTimeout, TraceConfig

    timeout = ClientTimeout(sock_connect=TIMEOUT, sock_read=TIMEOUT)
    trace = TraceConfig()
    trace.on_request_redirect.append(_stay_there)
    options = {"timeout": timeout, "trace_configs": [trace]}
    return {"client_kwargs": options | conf.get("http", {}).get("client_kwargs", {})}


async def _stay_there(_session: Any, _context: Any, redirected: Any) -> None:
    """Raise an error if a web server sends us to another host."""
    answer = redirected.response
    there = answer.url.join(type(answer.url)(answer.headers.get("Location", "")))
    if there.host != answer.url.host:
        raise OSError(f"it is at another host: {there.with_query(None)}")


@cache
def _archive(address: str, _process: int, _thread: int) -> Any:
    """File system of an archive, for one thread. fsspec keeps none, and lists the archive to make one."""
    return url_to_fs(address)[0]


def info_of(url: str) -> dict[str, Any]:
    """Ask fsspec about a file or folder: `type`, `size` and more."""
    with os_errors(url):
        fs, path = located(url)
        info: dict[str, Any]
        info = sync(fs.loop, fs._info, path, timeout=TIMEOUT) if fs.async_impl else fs.info(path)
        return info


def split_chain(url: str) -> tuple[str, str]:
    """Split a chained address into its path and what follows it.

    >>> split_chain("zip://folder::s3://bucket/mail.zip")
    ('zip://folder', '::s3://bucket/mail.zip')
    >>> split_chain("simplecache::s3://bucket/folder")
    ('simplecache::s3://bucket/folder', '')
    """
    end = url.find("::", url.find("://"))
    return (url, "") if end < 0 else (url[:end], url[end:])


def split_pattern(url: str) -> tuple[str, str]:
    """Split an address into the folder before the first part with *, ? or [ in it, and the rest, the pattern.

    >>> split_pattern("s3://bucket/2026-*/ham/")
    ('s3://bucket', '2026-*/ham/')
    """
    path, archive = split_chain(url)
    scheme, _, rest = path.partition("://")
    levels = rest.split("/")
    wildcards = "*[" if is_web(url) else "*?["  # on the web, a ? begins the query
    first = 0 if archive else 1  # outside archives, the first level is a host or bucket
    for depth, level in enumerate(levels[first:], first):
        if any(wildcard in level for wildcard in wildcards):
            return f"{scheme}://{'/'.join(levels[:depth])}{archive}", "/".join(levels[depth:])
    return url, ""


@contextmanager
def os_errors(url: str) -> Iterator[None]:
    """Turn what a backend raises into an OSError that says what went wrong."""
    try:
        yield
    except SpamnbError:
        raise
    except Exception as error:
        raise OSError(backend_reason(error, url)) from error


def backend_reason(error: BaseException, url: str) -> str:
    """Reason of a backend's error, on one line."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError):
        if not is_web(url) or cause is None or getattr(cause, "status", None) == 404:
            return "no such file or folder"
        error = cause  # on the web, fsspec calls every failure a missing file
    if isinstance(error, TimeoutError):
        return "no answer"
    reason = str(error)
    if hasattr(error, "status") and hasattr(error, "message"):
        reason = f"{error.status} {error.message}"
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror.lower()
    if isinstance(error, PermissionError) and reason in ("", "Forbidden"):
        return "permission denied"
    return " ".join(reason.split())[:LONGEST_REASON] or type(error).__name__
