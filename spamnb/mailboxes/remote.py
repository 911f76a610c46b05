"""The store of files at addresses: whatever fsspec opens, like s3://bucket/folder/ or sftp://host/file.

Links are not followed: from here, a circle of links could not be recognised.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from spamnb.errors import NoInput
from spamnb.mailboxes.addresses import (
    backend_reason,
    info_of,
    is_archived,
    is_web,
    located,
    os_errors,
    split_pattern,
)
from spamnb.mailboxes.stores import FILE, FOLDER, STREAM, PathEntry, Store
from spamnb.mailboxes.streams import FIRST_BLOCK, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST_BLOCK = 8 << 20  # bytes asked for at once: sending them takes far longer than the 20 ms of waiting
FILES_AT_ONCE = 64  # small files that are asked for together


class RemoteStore(Store):
    """Files at addresses."""

    __slots__ = ()

    def read(self, path: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
        """Yield blocks, each asked for when it is wanted: first `expected` bytes, then ever larger blocks."""
        with os_errors(path), _open(path, start) as file:
            size = expected or FIRST_BLOCK
            while block := file.read(size):
                yield block
                size = min(4 * size, LARGEST_BLOCK) if size != expected else FIRST_BLOCK

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield path and blocks of files, in order. Several are small: many of them are asked for at once."""
        for _, group in groupby(paths, lambda url: url.split("/", 3)[:3]):  # of one file system
            urls = list(group)
            for at in range(0, len(urls), FILES_AT_ONCE):
                these = urls[at : at + FILES_AT_ONCE]
                if len(these) == 1:
                    yield these[0], self.read(these[0])
                else:
                    yield from zip(these, map(_checked, these, _contents(these)), strict=True)

    def can_seek(self, path: str) -> bool:
        return not is_web(path) and not is_archived(path)  # some web servers send nothing but the whole

    def check(self, path: str) -> None:
        try:
            next(self.matching(path))
        except OSError as error:
            raise NoInput(f"{path}: {reason_of(error)}") from error

    def kind(self, path: str) -> str:
        try:
            return _exact(path).kind
        except OSError:
            return ""

    def matching(self, path: str) -> Iterator[PathEntry]:
        """Yield the file or folder at an address; if there is none, what it matches as a pattern, sorted."""
        folder, pattern = split_pattern(path)
        try:
            yield _exact(path)
            return
        except OSError:
            if not pattern or is_archived(path):
                raise
        with os_errors(path):
            fs, path_there = located(path)
            infos = fs.glob(path_there, detail=True)
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

    def matching_paths(self, path: str) -> Iterator[str]:
        if not split_pattern(path)[1]:
            yield path
            return
        try:
            yield from (entry.path for entry in self.matching(path))
        except OSError:  # whoever reads it reports that
            return

    def entries(self, folder: str) -> list[PathEntry]:
        with os_errors(folder):
            fs, path = located(folder)
            infos = fs.ls(path, detail=True)
            fs.invalidate_cache()  # it would keep all it has listed
        entries = [entry for below, entry in _entries(folder, infos) if "/" not in below]
        return sorted(entries, key=lambda entry: entry.name)

    def canonical(self, path: str) -> tuple[Any, str]:
        fs, path_there = located(path)
        return fs, path_there.strip("/")

    def identity(self, folder: str) -> tuple[Any, str]:
        return self.canonical(folder)

    def is_among(self, canonicals: set[Any], entry: Any, _folder: Any) -> bool:
        return self.canonical(entry.path) in canonicals


REMOTE = RemoteStore()


def _open(url: str, start: int) -> Any:
    """Open a file at a position. Each read is a request, and keeps no copy."""
    fs, path = located(url)
    if is_web(url):  # one request for all: some web servers send nothing but the whole
        return fs.open(path, "rb", block_size=0)
    file = fs.open(path, "rb", cache_type="none")
    file.seek(start)
    return file


def _contents(urls: list[str]) -> list[bytes | Exception]:
    """Read files of one file system whole."""
    try:
        fs, paths = located(urls[0])[0], [located(url)[1] for url in urls]
        return list(fs.cat_ranges(paths, None, None, on_error="return"))
    except Exception as error:
        return [error] * len(urls)


def _checked(url: str, content: bytes | Exception) -> Iterator[bytes]:
    if isinstance(content, Exception):
        raise OSError(backend_reason(content, url))
    yield content


def _entries(folder: str, infos: Iterable[dict[str, Any]]) -> Iterator[tuple[str, PathEntry]]:
    """Yield path below the folder and entry of each file and folder that fsspec has found there."""
    start = f"{located(folder)[1].strip('/')}/".lstrip("/")
    for info in infos:
        path_there = info["name"].strip("/")
        below = path_there[len(start) :]
        # Left out: the folder itself, and a page's links to elsewhere or to itself in another order.
        if path_there.startswith(start) and below and not (is_web(folder) and "?" in below):
            # A name with :: would be taken for an address in an address; so it is not found.
            url = f"{folder.rstrip('/')}/{below.replace('::', '%3A%3A')}"
            name = below.rpartition("/")[2]
            yield below, PathEntry(unquote(name) if is_web(url) else name, url, info["type"], _size(info))


def _exact(url: str) -> PathEntry:
    """Describe the file or folder at an address that is no pattern."""
    info = info_of(url)
    kind = info["type"]
    if is_web(url) and str(info.get("url", url)).endswith("/"):  # redirected: the slash was missing
        kind = FOLDER
    if kind not in (FILE, FOLDER):
        raise OSError("neither a file nor a folder")
    if kind == FOLDER and is_archived(url):
        raise OSError("a folder in an archive; name a file in it")
    return PathEntry("", url, kind, _size(info))


def _size(info: dict[str, Any]) -> int:
    size = info.get("size")  # a page of links tells none
    return STREAM if size is None else int(size)
