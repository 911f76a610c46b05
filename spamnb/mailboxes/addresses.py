"""Addresses like s3://bucket/folder/: the file system of fsspec that has them, and the meaning of its errors.

Whatever a backend raises becomes an OSError. No other host is asked than that of the address.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from logging import NullHandler, getLogger
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
_held: dict[int, Any] = {}


def is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def located(url: str) -> tuple[Any, str]:
    """Find the file system of fsspec that has an address, and the path in it."""
    try:
        if "http://" in url or "https://" in url:
            _guard_web()
        fs, path = url_to_fs(url)
    except ImportError as error:  # which names the package
        raise UsageError(f"{url}: {error}") from error
    except Exception as error:
        raise OSError(backend_reason(error, url)) from error
    _held[id(fs)] = fs  # fsspec makes another, which is equal, for each file of an archive
    return fs, path


@cache
def _guard_web() -> None:
    """Set options of aiohttp: a file may take longer than five minutes, but no server may fall silent."""
    from aiohttp import ClientTimeout, TraceConfig

    trace = TraceConfig()
    trace.on_request_redirect.append(_stay_there)
    options = {"timeout": ClientTimeout(sock_connect=TIMEOUT, sock_read=TIMEOUT), "trace_configs": [trace]}
    of_user = conf.get("http", {})
    conf["http"] = {**of_user, "client_kwargs": options | of_user.get("client_kwargs", {})}


async def _stay_there(_session: Any, _context: Any, redirected: Any) -> None:
    """Raise an error if a web server sends us to another host."""
    answer = redirected.response
    there = answer.url.join(type(answer.url)(answer.headers.get("Location", "")))
    if there.host != answer.url.host:
        raise OSError(f"it is at another host: {there.with_query(None)}")


def info_of(url: str) -> dict[str, Any]:
    """Ask fsspec about a file or folder: `type`, `size` and more."""
    with os_errors(url):
        fs, path = located(url)
        info: dict[str, Any]
        info = sync(fs.loop, fs._info, path, timeout=TIMEOUT) if fs.async_impl else fs.info(path)
        return info


def is_archived(url: str) -> bool:
    """Whether an address leads into an archive, like zip://mail.mbox::s3://bucket/mail.zip."""
    return "::" in url.partition("://")[2]


def split_pattern(url: str) -> tuple[str, str]:
    """Split an address into the folder before the first part with *, ? or [ in it, and the rest, the pattern.

    >>> split_pattern("s3://bucket/2026-*/ham/")
    ('s3://bucket', '2026-*/ham/')
    """
    scheme, _, rest = url.partition("://")
    levels = rest.split("/")
    wildcards = "*[" if is_web(url) else "*?["  # on the web, a ? begins the query
    for depth, level in enumerate(levels[1:], 1):  # the first is a host or bucket
        if any(wildcard in level for wildcard in wildcards):
            return f"{scheme}://{'/'.join(levels[:depth])}", "/".join(levels[depth:])
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
