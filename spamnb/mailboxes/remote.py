"""The store of files at addresses: whatever fsspec opens, like s3://bucket/folder/ or sftp://host/file.

Links to folders are not followed: from here, a circle of links could not be recognised.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from spamnb.errors import NoInput
from spamnb.mailboxes.addresses import (
    backend_reason,
    info_of,
    is_web,
    located,
    os_errors,
    split_chain,
    split_pattern,
)
from spamnb.mailboxes.stores import FILE, FOLDER, OTHER, STREAM, PathEntry, Store
from spamnb.mailboxes.streams import FIRST_BLOCK, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST_BLOCK = 8 << 20  # bytes asked for at once: sending them takes far longer than the 20 ms of waiting
FILES_AT_ONCE = 64  # files whose beginnings are asked for together: at most 4 MB
HAS_COLONS = "its name has :: in it, which would be taken for the start of another address"


class RemoteEntry(PathEntry):
    """A file or folder at an address."""

    __slots__ = ()

    def stat(self) -> RemoteEntry:
        if "::" in self.name and not is_web(self.path):
            raise OSError(HAS_COLONS)
        if self.st_size == STREAM and is_web(self.path):  # a page of links tells no sizes
            self.st_size = _size(info_of(self.path))
        return self


class RemoteStore(Store):
    """Files at addresses."""

    __slots__ = ()

    def read(self, url: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
        """Yield blocks, each asked for when it is wanted: first `expected` bytes, then ever larger blocks."""
        with os_errors(url):
            file = _open(url, start)
        try:
            for size in _sizes(expected):
                with os_errors(url):
                    block = file.read(size)
                if not block:
                    return
                yield block
        finally:
            file.close()

    def read_each(self, urls: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield path and blocks of files, in order. The first blocks of many files are asked for together."""
        for fs, group in groupby(urls, _file_system):
            same_fs = list(group)
            if fs is None or not fs.async_impl or is_web(same_fs[0]):
                yield from ((url, self.read(url)) for url in same_fs)
                continue
            for at in range(0, len(same_fs), FILES_AT_ONCE):
                these = same_fs[at : at + FILES_AT_ONCE]
                yield from zip(these, map(self._continued, these, _beginnings(fs, these)), strict=True)

    def _continued(self, url: str, beginning: bytes | Exception) -> Iterator[bytes]:
        if isinstance(beginning, Exception):
            raise OSError(backend_reason(beginning, url))
        yield beginning
        if len(beginning) == FIRST_BLOCK:
            yield from self.read(url, FIRST_BLOCK)

    def can_seek(self, url: str) -> bool:
        """Whether a file can be read from its middle; some web servers send nothing but the whole."""
        try:
            with os_errors(url), _open(url, 1) as file:
                return bool(file.read(1))
        except OSError:
            return False

    def check(self, url: str) -> None:
        try:
            next(self.matching(url))
        except OSError as error:
            raise NoInput(f"{url}: {reason_of(error)}") from error

    def kind(self, url: str) -> str:
        try:
            return _exact(url).kind
        except OSError:
            return ""

    def matching(self, url: str) -> Iterator[RemoteEntry]:
        """Yield the file or folder at an address; if there is none, what it matches as a pattern, sorted."""
        folder, pattern = split_pattern(url)
        try:
            yield _exact(url)
            return
        except OSError:
            if not pattern:
                raise
        with os_errors(url):
            fs, path = located(url)
            infos = fs.glob(path, detail=True)
            fs.invalidate_cache()
        with_dot_files = pattern.startswith(".") or "/." in pattern
        last_folder, empty = "\0", True  # what is below the last folder is read with it
        for below, entry in sorted(_entries(folder, infos.values()), key=lambda found: found[0].split("/")):
            if below.startswith(last_folder) or (not with_dot_files and ("/" + below).count("/.")):
                continue
            if entry.is_dir():
                last_folder = below + "/"
            elif pattern.endswith("/"):
                continue
            empty = False
            yield entry
        if empty:
            self.entries(folder)  # raises an error if it cannot be listed; glob does not
            raise OSError("nothing there matches")

    def matching_paths(self, url: str) -> Iterator[str]:
        if not split_pattern(url)[1]:
            yield url
            return
        try:
            yield from (entry.path for entry in self.matching(url))
        except OSError:  # whoever reads it reports that
            return

    def entries(self, folder: str) -> list[RemoteEntry]:
        with os_errors(folder):
            fs, path = located(folder)
            infos = fs.ls(path, detail=True)
            fs.invalidate_cache()  # it would keep all it has listed
        entries = [entry for below, entry in _entries(folder, infos) if "/" not in below]
        return sorted(entries, key=lambda entry: entry.name)

    def canonical(self, url: str) -> tuple[Any, str]:
        fs, path = located(url)
        return fs, path.strip("/")

    def identity(self, folder: str) -> tuple[Any, str]:
        return self.canonical(folder)

    def is_among(self, canonicals: set[tuple[Any, str]], entry: RemoteEntry, folder: tuple[Any, str]) -> bool:
        name = split_chain(entry.path)[0].rstrip("/").rpartition("/")[2]
        return (folder[0], f"{folder[1]}/{name}".lstrip("/")) in canonicals


REMOTE = RemoteStore()


def _sizes(expected: int) -> Iterator[int]:
    """Yield the sizes of blocks to ask for, without end."""
    for at in range(0, expected, LARGEST_BLOCK):
        yield min(LARGEST_BLOCK, expected - at)
    size = FIRST_BLOCK
    while True:
        yield size
        size = min(4 * size, LARGEST_BLOCK)


def _open(url: str, start: int) -> Any:
    """Open a file at a position. Each read is a request, and keeps no copy."""
    fs, path = located(url)
    if is_web(url) and not start:  # one request for all: some web servers send nothing but the whole
        return fs.open(path, "rb", block_size=0)
    file = fs.open(path, "rb", cache_type="none")
    file.seek(start)
    return file


def _file_system(url: str) -> Any:
    try:
        return located(url)[0]
    except OSError:  # whoever reads it reports that
        return None


def _beginnings(fs: Any, urls: list[str]) -> list[bytes | Exception]:
    try:
        paths = [located(url)[1] for url in urls]
        return list(fs.cat_ranges(paths, [0] * len(urls), [FIRST_BLOCK] * len(urls), on_error="return"))
    except Exception as error:
        return [error] * len(urls)


def _entries(folder: str, infos: Iterable[dict[str, Any]]) -> Iterator[tuple[str, RemoteEntry]]:
    """Yield path below the folder and entry of each file and folder that fsspec has found there."""
    path, archive = split_chain(folder)
    start = f"{located(folder)[1].strip('/')}/".lstrip("/")
    for info in infos:
        path_there = info["name"].strip("/")
        below = path_there[len(start) :]
        # Left out: the folder itself, and a page's links to elsewhere or to itself in another order.
        if path_there.startswith(start) and below and not (is_web(folder) and "?" in below):
            url = f"{path}{'' if path.endswith('/') else '/'}{below.replace('::', '%3A%3A')}{archive}"
            yield below, _entry(info, below.rpartition("/")[2], url)


def _entry(info: dict[str, Any], name: str, url: str) -> RemoteEntry:
    if "::" in name and not is_web(url):
        return RemoteEntry(name, url, FILE)
    if info.get("islink") or info["type"] == "link":
        try:
            info = info_of(url)
        except OSError:  # the link leads nowhere
            return RemoteEntry(name, url, OTHER)
        if info["type"] == FOLDER:
            return RemoteEntry(name, url, OTHER)
    return RemoteEntry(unquote(name) if is_web(url) else name, url, info["type"], _size(info))


def _exact(url: str) -> RemoteEntry:
    """Describe the file or folder at an address that is no pattern."""
    info = info_of(url)
    kind = info["type"]
    if is_web(url) and str(info.get("url", url)).endswith("/"):  # redirected: the slash was missing
        kind = FOLDER
    if kind not in (FILE, FOLDER):
        raise OSError("neither a file nor a folder")
    return RemoteEntry("", url, kind, _size(info))


def _size(info: dict[str, Any]) -> int:
    size = info.get("size")
    return STREAM if size is None else int(size)
