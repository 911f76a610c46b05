"""Mail at addresses, like s3://bucket/folder/ or sftp://host/file: whatever fsspec opens, by its own rules.

A web address is one file, and so is an address in an archive (zip://mail.mbox::s3://bucket/mail.zip). Links
are not followed: from here, a circle of links could not be recognised.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import groupby
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError, UsageError
from spamnb.mailboxes.stores import STREAM, PathEntry, Store
from spamnb.mailboxes.streams import FIRST_BLOCK

try:
    from fsspec.core import url_to_fs
except ImportError:
    raise UsageError("addresses with :// need an extra: pip install 'spamnb[cluster]'") from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BLOCK = 8 << 20  # bytes asked for at once: sending them takes far longer than the 20 ms of waiting
MAX_REASON = 300  # characters of a backend's error message

getLogger().addHandler(NullHandler())  # else tracebacks of backends would come between our lines

# File systems, never released: to do so in a forked process closes connections its parent waits for.
_held: dict[int, Any] = {}


class RemoteStore(Store):
    """Files at addresses."""

    def read(self, path: str) -> Iterator[bytes]:
        """Yield blocks, each asked for when it is wanted, and ever larger."""
        with _os_errors():
            fs, path_there = _located(path)
            # Some web servers send nothing but the whole; elsewhere, each read is a request, and keeps none.
            how = {"block_size": 0} if _is_web(path) else {"cache_type": "none"}
            with fs.open(path_there, "rb", **how) as file:
                size = FIRST_BLOCK
                while block := file.read(size):
                    yield block
                    size = min(4 * size, MAX_BLOCK)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield path and blocks of files, in order. Several are small: they are asked for at once."""
        for _, group in groupby(paths, lambda url: url.split("/", 3)[:3]):  # of one file system
            urls = list(group)
            if len(urls) == 1:
                yield urls[0], self.read(urls[0])
            else:
                yield from zip(urls, map(_checked, _contents(urls)), strict=True)

    def is_pattern(self, path: str) -> bool:
        return "://" in _folder_of(path) and not _is_web(path) and not _is_archived(path)

    def matching(self, path: str) -> list[PathEntry]:
        """List the file or folder at an address; or what it matches as a pattern, sorted, no hidden files."""
        with _os_errors():
            fs, path_there = _located(path)
            if not self.is_pattern(path):
                return [_entry("", path, fs.info(path_there))]
            folder = _folder_of(path)
            entries = _entries(folder, fs.glob(path_there, detail=True).values())
            fs.invalidate_cache()  # it would keep all it has listed
        found: list[PathEntry] = []
        for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
            hidden = "/." in entry.path.removeprefix(folder) and "/." not in path.removeprefix(folder)
            # What is below a folder is read with it.
            if not hidden and not (found and entry.path.startswith(f"{found[-1].path}/")):
                found.append(entry)
        if not found:
            raise OSError("nothing there matches")
        return found

    def entries(self, folder: str) -> list[PathEntry]:
        with _os_errors():
            fs, path_there = _located(folder)
            entries = _entries(folder, fs.ls(path_there, detail=True))
            fs.invalidate_cache()
        return sorted(entries, key=lambda entry: entry.name)

    def canonical(self, path: str) -> str:
        return path.rstrip("/")


REMOTE = RemoteStore()


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _is_archived(url: str) -> bool:
    return "::" in url.partition("://")[2]


def _folder_of(pattern: str) -> str:
    """Address of the last folder before the first * or ? or [; "" if there is none."""
    places = [at for wildcard in "*?[" if (at := pattern.find(wildcard)) >= 0]
    return pattern[: min(places)].rpartition("/")[0] if places else ""


def _located(url: str) -> tuple[Any, str]:
    """Find the file system of fsspec that has an address, and the path in it."""
    try:
        fs, path = url_to_fs(url)
    except ImportError as error:  # which names the package
        raise UsageError(f"{url}: {error}") from error
    _held[id(fs)] = fs  # fsspec makes another, which is equal, for each file of an archive
    return fs, path


def _entries(folder: str, infos: Iterable[dict[str, Any]]) -> list[PathEntry]:
    """Describe what fsspec has found below a folder, but not the folder itself."""
    found = []
    start = _located(folder)[1].strip("/")
    for info in infos:
        below = info["name"].strip("/")[len(start) :].strip("/")
        if below:
            # A name with :: would be taken for an address in an address; so it is not found.
            url = f"{folder.rstrip('/')}/{below.replace('::', '%3A%3A')}"
            found.append(_entry(below.rpartition("/")[2], url, info))
    return found


def _entry(name: str, url: str, info: dict[str, Any]) -> PathEntry:
    size = info.get("size")  # some web servers tell none
    return PathEntry(name, url, info["type"], STREAM if size is None else int(size))


def _contents(urls: list[str]) -> list[Any]:
    """Read files of one file system whole; in place of one that cannot be read is its error."""
    try:
        fs, paths = _located(urls[0])[0], [_located(url)[1] for url in urls]
        return list(fs.cat_ranges(paths, None, None, on_error="return"))
    except Exception as error:
        return [error] * len(urls)


def _checked(content: bytes | Exception) -> Iterator[bytes]:
    with _os_errors():
        if isinstance(content, Exception):
            raise content
        yield content


@contextmanager
def _os_errors() -> Iterator[None]:
    """Turn whatever a backend raises into an OSError that says on one line what went wrong."""
    try:
        yield
    except SpamnbError:
        raise
    except Exception as error:
        raise OSError(_reason(error)) from error


def _reason(error: Exception) -> str:
    cause: Any = error.__cause__
    if hasattr(cause, "status") and hasattr(cause, "message"):  # of a web server: fsspec hides all but this
        return f"{cause.status} {cause.message}"
    if isinstance(error, FileNotFoundError) and isinstance(cause, OSError):
        error = cause  # as of a connection
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, TimeoutError):
        return "no answer"
    reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, PermissionError) and reason in ("", "Forbidden", "forbidden"):
        return "permission denied"
    return " ".join(reason.split())[:MAX_REASON] or type(error).__name__
