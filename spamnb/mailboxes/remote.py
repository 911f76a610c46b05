"""Mail that lies elsewhere: any address that fsspec opens, like s3://bucket/folder/ or sftp://host/file.

What a backend raises, which may be anything, becomes an OSError. Links to folders are not followed: that they
lead in a circle could not be told from here.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from logging import NullHandler, getLogger
from threading import get_ident
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.mailboxes.stores import FILE, FOLDER, OTHER, STREAM, Named
from spamnb.mailboxes.streams import FIRST, why

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
LONGEST = 300  # characters of a backend's error message
PATIENCE = 60  # seconds for an answer; by its own rules s3fs would ask again and again for six minutes
CHAIN = "its name has :: in it, which would be taken for the start of another address"
TALKATIVE = ("asyncio", "fsspec", "s3fs", "aiobotocore", "gcsfs", "azure", "paramiko", "smbprotocol")

for name in TALKATIVE:  # or, where nobody has set up logging, tracebacks would come between the lines
    getLogger(name).addHandler(NullHandler())

# Never let go of: a forked process that did would close the connections of its parent, which would wait on.
_held: set[Any] = set()


class RemoteEntry(Named):
    """A file or folder at an address."""

    __slots__ = ()

    def stat(self) -> RemoteEntry:
        if "::" in self.name and not is_web(self.path):
            raise OSError(CHAIN)
        if self.st_size == STREAM and is_web(self.path):  # a page of links tells no sizes
            self.st_size = _size(_info(self.path))
        return self


class Remote:
    """Files at addresses."""

    __slots__ = ()

    def read(self, url: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
        """Blocks, each asked for when it is wanted: what is `expected`, then ever larger ones."""
        with _errors(url):
            file = _open(url, start)
        try:
            for size in _sizes(expected):
                with _errors(url):
                    block = file.read(size)
                if not block:
                    return
                yield block
        finally:
            file.close()

    def read_each(self, urls: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Several files, in order. The beginnings of many are asked for at once, as most have no more."""
        for fs, group in groupby(urls, _file_system):
            together = list(group)
            if fs is None or not fs.async_impl or is_web(together[0]):
                yield from ((url, self.read(url)) for url in together)
                continue
            for at in range(0, len(together), AT_ONCE):
                some = together[at : at + AT_ONCE]
                yield from zip(some, map(self._continued, some, _beginnings(fs, some)), strict=True)

    def _continued(self, url: str, begun: bytes | Exception) -> Iterator[bytes]:
        if isinstance(begun, Exception):
            raise OSError(_reason(begun, url))
        yield begun
        if len(begun) == FIRST:
            yield from self.read(url, FIRST)

    def can_seek(self, url: str) -> bool:
        """Whether it can be read from the middle; some web servers send nothing but the whole."""
        try:
            with _errors(url), _open(url, 1) as file:
                return bool(file.read(1))
        except OSError:
            return False

    def check(self, url: str) -> None:
        try:
            next(self.named(url))
        except OSError as error:
            raise NoInput(f"{url}: {why(error)}") from error

    def kind(self, url: str) -> str:
        try:
            return _exact(url).kind
        except OSError:
            return ""

    def named(self, url: str) -> Iterator[RemoteEntry]:
        """That file or folder; or, if there is no such thing, what it matches as a pattern, sorted."""
        folder, pattern = _split_pattern(url)
        try:
            yield _exact(url)
            return
        except OSError:
            if not pattern:
                raise
        with _errors(url):
            fs, path = _located(url)
            infos = fs.glob(path, detail=True)
            fs.invalidate_cache()
        hidden = pattern.startswith(".") or "/." in pattern
        whole, empty = "\0", True  # the last folder found: it will be read with all below it
        for below, entry in sorted(_entries(folder, infos.values()), key=lambda one: one[0].split("/")):
            if below.startswith(whole) or (not hidden and ("/" + below).count("/.")):
                continue
            if entry.is_dir():
                whole = below + "/"
            elif pattern.endswith("/"):
                continue
            empty = False
            yield entry
        if empty:
            self.listed(folder)  # says so if it cannot be listed; glob does not
            raise OSError("nothing there matches")

    def expanded(self, url: str) -> Iterator[str]:
        if not _split_pattern(url)[1]:
            yield url
            return
        try:
            yield from (entry.path for entry in self.named(url))
        except OSError:  # who reads it will tell
            return

    def listed(self, folder: str) -> list[RemoteEntry]:
        with _errors(folder):
            fs, path = _located(folder)
            infos = fs.ls(path, detail=True)
            fs.invalidate_cache()  # it would keep all it has listed
        entries = [entry for below, entry in _entries(folder, infos) if "/" not in below]
        return sorted(entries, key=lambda entry: entry.name)

    def place(self, url: str) -> tuple[Any, str]:
        fs, path = _located(url)
        return fs, path.strip("/")

    identity = place

    def is_among(self, places: set[tuple[Any, str]], entry: RemoteEntry, folder: tuple[Any, str]) -> bool:
        name = _split_chain(entry.path)[0].rstrip("/").rpartition("/")[2]
        return (folder[0], f"{folder[1]}/{name}".lstrip("/")) in places


REMOTE = Remote()


def is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _sizes(expected: int) -> Iterator[int]:
    for at in range(0, expected, LARGEST):
        yield min(LARGEST, expected - at)
    size = FIRST
    while True:
        yield size
        size = min(4 * size, LARGEST)


def _open(url: str, start: int) -> Any:
    """A file at a position. Reading is a request each time, and keeps no copy."""
    fs, path = _located(url)
    if is_web(url) and not start:  # one request for all: some web servers send nothing but the whole
        return fs.open(path, "rb", block_size=0)
    file = fs.open(path, "rb", cache_type="none")
    file.seek(start)
    return file


def _file_system(url: str) -> Any:
    try:
        return _located(url)[0]
    except OSError:  # who reads it will tell
        return None


def _beginnings(fs: Any, urls: list[str]) -> list[bytes | Exception]:
    many = len(urls)
    try:
        paths = [_located(url)[1] for url in urls]
        return list(fs.cat_ranges(paths, [0] * many, [FIRST] * many, on_error="return"))
    except Exception as error:
        return [error] * many


def _entries(folder: str, infos: Iterable[dict[str, Any]]) -> Iterator[tuple[str, RemoteEntry]]:
    """What lies below a folder, as fsspec tells it: path from there, and entry."""
    path, archive = _split_chain(folder)
    start = f"{_located(folder)[1].strip('/')}/".lstrip("/")
    for info in infos:
        own = info["name"].strip("/")
        below = own[len(start) :]
        # Not below it: the folder itself, a page's link to elsewhere, or to itself in another order.
        if own.startswith(start) and below and not (is_web(folder) and "?" in below):
            url = f"{path}{'' if path.endswith('/') else '/'}{below.replace('::', '%3A%3A')}{archive}"
            yield below, _entry(info, below.rpartition("/")[2], url)


def _entry(info: dict[str, Any], name: str, url: str) -> RemoteEntry:
    if "::" in name and not is_web(url):
        return RemoteEntry(name, url, FILE)
    if info.get("islink") or info["type"] == "link":
        try:
            info = _info(url)
        except OSError:  # it leads nowhere
            return RemoteEntry(name, url, OTHER)
        if info["type"] == FOLDER:
            return RemoteEntry(name, url, OTHER)
    return RemoteEntry(unquote(name) if is_web(url) else name, url, info["type"], _size(info))


def _exact(url: str) -> RemoteEntry:
    info = _info(url)
    kind = info["type"]
    if is_web(url) and str(info.get("url", url)).endswith("/"):  # where servers send who forgot the slash
        kind = FOLDER
    if kind not in (FILE, FOLDER):
        raise OSError("neither a file nor a folder")
    return RemoteEntry("", url, kind, _size(info))


def _info(url: str) -> dict[str, Any]:
    """What fsspec tells about a file or folder: `type`, `size` and more."""
    with _errors(url):
        fs, path = _located(url)
        info: dict[str, Any]
        info = sync(fs.loop, fs._info, path, timeout=PATIENCE) if fs.async_impl else fs.info(path)
        return info


def _size(info: dict[str, Any]) -> int:
    size = info.get("size")
    return STREAM if size is None else int(size)


def _located(url: str) -> tuple[Any, str]:
    """The file system of fsspec that has it, and its path there."""
    path, archive = _split_chain(url)
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
        raise OSError(_reason(error, url)) from error
    _held.add(fs)
    return fs, path


def _web_options() -> dict[str, Any]:
    """A web server may send a file for longer than the five minutes of aiohttp, but not fall silent."""
    from aiohttp import ClientTimeout

    timeout = ClientTimeout(sock_connect=PATIENCE, sock_read=PATIENCE)
    return {"client_kwargs": {"timeout": timeout} | conf.get("http", {}).get("client_kwargs", {})}


@cache
def _archive(address: str, _process: int, _thread: int) -> Any:
    """One that fsspec does not keep: to make it is to read a list of all that is in the archive."""
    return url_to_fs(address)[0]


def _split_chain(url: str) -> tuple[str, str]:
    """The path of a chained address, and what follows it.

    >>> _split_chain("zip://folder::s3://bucket/mail.zip")
    ('zip://folder', '::s3://bucket/mail.zip')
    >>> _split_chain("simplecache::s3://bucket/folder")
    ('simplecache::s3://bucket/folder', '')
    """
    end = url.find("::", url.find("://"))
    return (url, "") if end < 0 else (url[:end], url[end:])


def _split_pattern(url: str) -> tuple[str, str]:
    """The folder before the first part with *, ? or [ in it, and the pattern from there on.

    >>> _split_pattern("s3://bucket/2026-*/ham/")
    ('s3://bucket', '2026-*/ham/')
    """
    path, archive = _split_chain(url)
    scheme, _, rest = path.partition("://")
    parts = rest.split("/")
    signs = "*[" if is_web(url) else "*?["  # what follows a ? is for the web server
    host = 0 if archive else 1  # or a bucket
    for place, part in enumerate(parts[host:], host):
        if any(sign in part for sign in signs):
            return f"{scheme}://{'/'.join(parts[:place])}{archive}", "/".join(parts[place:])
    return url, ""


@contextmanager
def _errors(url: str) -> Iterator[None]:
    """Turn what a backend raises into an OSError that says what went wrong."""
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
            return "no such file or folder"
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
