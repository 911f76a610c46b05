"""Files that lie elsewhere: any address that fsspec opens, say s3://bucket/file or sftp://host/file.

What a backend raises, which may be anything, becomes an OSError.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from logging import NullHandler, getLogger
from threading import get_ident
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError, UsageError
from spamnb.mailboxes.streams import FIRST

try:
    from fsspec.asyn import sync
    from fsspec.config import conf
    from fsspec.core import url_to_fs
except ImportError:
    raise UsageError("addresses with :// need an extra: pip install 'spamnb[cluster]'") from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST = 8 << 20  # bytes asked for at once: what 20 ms of waiting are little against
AT_ONCE = 64  # files whose beginnings are asked for together: at most 4 MB
LONGEST = 300  # characters of what a backend has to say
PATIENCE = 60  # seconds for an answer; by its own rules s3fs would ask again and again for six minutes
GONE = "no such file or folder"
TALKATIVE = ("asyncio", "fsspec", "s3fs", "aiobotocore", "gcsfs", "azure", "paramiko", "smbprotocol")

for name in TALKATIVE:  # or, where nobody has set up logging, tracebacks would come between the lines
    getLogger(name).addHandler(NullHandler())

# Never let go of: a forked process that did would close the connections of its parent, which would wait on.
_held: set[Any] = set()


def read(url: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
    """Blocks, each asked for when it is wanted: what is `expected`, then ever larger ones."""
    with errors(url):
        file = _open(url)
    try:
        with errors(url):
            file.seek(start)
        at = start
        for size in _sizes(expected):
            with errors(url):
                try:
                    block = file.read(size)
                except ValueError:
                    if not is_web(url):
                        raise
                    file = _from_the_start(url, at)
                    block = file.read(size)
            if not block:
                return
            yield block
            at += len(block)
    finally:
        file.close()


def _sizes(expected: int) -> Iterator[int]:
    for at in range(0, expected, LARGEST):
        yield min(LARGEST, expected - at)
    size = FIRST
    while True:
        yield size
        size = min(4 * size, LARGEST)


def each(urls: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Several files, in order. The beginnings of many are asked for at once, as most have no more."""
    for store, group in groupby(urls, _store):
        together = list(group)
        if store is None or not store.async_impl or is_web(together[0]):
            yield from ((url, read(url)) for url in together)
            continue
        for at in range(0, len(together), AT_ONCE):
            some = together[at : at + AT_ONCE]
            yield from zip(some, map(_continued, some, _beginnings(store, some)), strict=True)


def can_seek(url: str) -> bool:
    """Whether it can be read from the middle; some web servers send nothing but the whole."""
    try:
        with errors(url), _open(url) as file:
            file.seek(1)
            return bool(file.read(1))
    except OSError:
        return False


def info_of(url: str) -> dict[str, Any]:
    """What fsspec tells about it: `type`, `size` and more."""
    with errors(url):
        store, path = located(url)
        info: dict[str, Any]
        info = sync(store.loop, store._info, path, timeout=PATIENCE) if store.async_impl else store.info(path)
        return info


def located(url: str) -> tuple[Any, str]:
    """The file system of fsspec that has it, and its path there."""
    path, archive = unchained(url)
    try:
        if archive:
            store = _archive(path.partition("://")[0] + "://" + archive, os.getpid(), get_ident())
            path = store._strip_protocol(path)
        else:
            store, path = url_to_fs(url, **(_web() if is_web(url) else {}))
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        todo = f"pip install {cause.name}" if cause.name and cause.name in str(error) else str(error)
        raise UsageError(f"{url}: this needs another package: {todo}") from error
    except Exception as error:
        raise OSError(_reason(error, url)) from error
    _held.add(store)
    return store, path


def _web() -> dict[str, Any]:
    """A web server may send a file for longer than the five minutes of aiohttp, but not fall silent."""
    from aiohttp import ClientTimeout

    timeout = ClientTimeout(sock_connect=PATIENCE, sock_read=PATIENCE)
    return {"client_kwargs": {"timeout": timeout} | conf.get("http", {}).get("client_kwargs", {})}


@cache
def _archive(address: str, _process: int, _thread: int) -> Any:
    """One that fsspec does not keep: to make it is to read a list of all that is in the archive."""
    return url_to_fs(address)[0]


def unchained(url: str) -> tuple[str, str]:
    """The path of a chained address, and what follows it.

    >>> unchained("zip://folder::s3://bucket/mail.zip")
    ('zip://folder', '::s3://bucket/mail.zip')
    >>> unchained("simplecache::s3://bucket/folder")
    ('simplecache::s3://bucket/folder', '')
    """
    end = url.find("::", url.find("://"))
    return (url, "") if end < 0 else (url[:end], url[end:])


def is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


@contextmanager
def errors(url: str) -> Iterator[None]:
    """Those of a backend as an OSError that says what went wrong."""
    try:
        yield
    except SpamnbError:
        raise
    except Exception as error:
        raise OSError(_reason(error, url)) from error


def _reason(error: BaseException, url: str) -> str:
    """On one line."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError):
        if not is_web(url) or cause is None or getattr(cause, "status", None) == 404:
            return GONE
        error = cause  # fsspec says the same of whatever goes wrong on the web
    if isinstance(error, TimeoutError):
        return "no answer"
    said = str(error)
    if hasattr(error, "status") and hasattr(error, "message"):
        said = f"{error.status} {error.message}"
    elif isinstance(error, OSError) and error.strerror:
        said = error.strerror.lower()
    if isinstance(error, PermissionError) and said in ("", "Forbidden"):
        return "permission denied"
    return " ".join(said.split())[:LONGEST] or type(error).__name__


def _open(url: str, **options: Any) -> Any:
    store, path = located(url)
    return store.open(path, "rb", cache_type="none", **options)  # a request for each read, and no copy kept


def _from_the_start(url: str, at: int) -> Any:
    """A file at some position, where a web server sends nothing but the whole."""
    file = _open(url, block_size=0)
    while at > 0 and (block := file.read(min(at, LARGEST))):
        at -= len(block)
    return file


def _store(url: str) -> Any:
    try:
        return located(url)[0]
    except OSError:  # who reads it will tell
        return None


def _beginnings(store: Any, urls: list[str]) -> list[bytes | Exception]:
    many = len(urls)
    try:
        paths = [located(url)[1] for url in urls]
        return list(store.cat_ranges(paths, [0] * many, [FIRST] * many, on_error="return"))
    except Exception as error:
        return [error] * many


def _continued(url: str, begun: bytes | Exception) -> Iterator[bytes]:
    if isinstance(begun, Exception):
        raise OSError(_reason(begun, url))
    yield begun
    if len(begun) == FIRST:
        yield from read(url, FIRST)
