"""Finding mail elsewhere: folders walked by the rules of local ones, and patterns like s3://bucket/*/ham/.

Links to folders are not followed: that they lead in a circle could not be told from here.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from spamnb.errors import NoInput, UsageError
from spamnb.mailboxes.folders import STREAM, Walk
from spamnb.mailboxes.remote import errors, info_of, is_web, located, unchained
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.streams import why

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spamnb.mailboxes.folders import Entry as AnyEntry

FILE, FOLDER, LINK = "file", "directory", "link"  # as fsspec calls them
CHAIN = "its name has :: in it, which would be taken for the start of another address"


class Entry:
    """A file or folder, with what is used of an os.DirEntry."""

    __slots__ = ("kind", "name", "path", "st_size")

    def __init__(self, name: str, path: str, kind: str, size: int = 0) -> None:
        self.name = name
        self.path = path
        self.kind = kind
        self.st_size = size

    def is_dir(self) -> bool:
        return self.kind == FOLDER

    def is_file(self) -> bool:
        return self.kind == FILE

    def stat(self) -> Entry:
        if is_web(self.path):
            if self.st_size == STREAM:  # a page of links tells no sizes
                self.st_size = _size(info_of(self.path))
        elif "::" in self.name:
            raise OSError(CHAIN)
        return self


class RemoteWalk(Walk):
    """A walk below addresses. What a pattern matches counts as named."""

    def __init__(self, without: Iterable[str], leave_out: frozenset[str] = frozenset()) -> None:
        self.leave_out = leave_out
        self.named: list[str] = []
        self.unwanted = {_place(found) for url in without for found in _expanded(url)}
        self.entered: set[tuple[Any, str]] = set()

    def whole(self, paths: Iterable[str]) -> Iterator[tuple[str, int] | Unreadable]:
        for url in paths:
            try:
                for entry in named(url):
                    if entry.path != url and _place(entry.path) in self.unwanted:
                        raise UsageError(f"{entry.path}: named under two labels; once is right")
                    yield from self.of(entry)
            except OSError as error:
                yield Unreadable(url, why(error))

    def of(self, entry: Entry) -> Iterator[tuple[str, int] | Unreadable]:
        try:
            if entry.is_dir():
                yield from self.below(entry.path)
            elif size := entry.stat().st_size:
                yield entry.path, size
        except OSError as error:
            yield Unreadable(entry.path, why(error))

    def is_named(self, entry: AnyEntry) -> bool:
        place = _place(entry.path)
        return any(_place(found) == place for url in self.named for found in _expanded(url))

    def listed(self, folder: str) -> list[Entry]:
        here = _place(folder)
        if here in self.entered:
            return []
        self.entered.add(here)
        found = listing(folder)
        if self.unwanted:
            store, start = here[0], f"{here[1]}/".lstrip("/")
            found = [entry for entry in found if (store, start + _last(entry.path)) not in self.unwanted]
        return found


def check(url: str) -> None:
    """Raise NoInput if there is nothing, or it cannot be had."""
    try:
        next(named(url))
    except OSError as error:
        raise NoInput(f"{url}: {why(error)}") from error


def is_numbered(url: str, box: str) -> bool:
    """Whether there is no such file, but the mailbox whose address is all before the number."""
    if "/" not in box.partition("://")[2]:  # the number is a host's port
        return False
    try:
        _exact(url)
        return False
    except OSError:
        pass
    try:
        return _exact(box).is_file()
    except OSError:
        return False


def is_folder(url: str) -> bool:
    try:
        return _exact(url).is_dir()
    except OSError:
        return False


def named(url: str) -> Iterator[Entry]:
    """What an address names: itself, or, if there is no such thing, what it matches as a pattern, sorted."""
    folder, parts = _pattern(url)
    try:
        yield _exact(url)
        return
    except OSError:
        if not parts:
            raise
    found = False
    for entry in _matching(folder, parts):
        found = True
        yield entry
    if not found:
        raise OSError("nothing there matches")


def listing(folder: str) -> list[Entry]:
    """What is in a folder, sorted by name."""
    with errors(folder):
        store, path = located(folder)
        infos = store.ls(path, detail=True)
        store.invalidate_cache()  # it would keep all it has listed
    start = f"{path.strip('/')}/".lstrip("/")
    entries = []
    for info in infos:
        own = info["name"].strip("/")
        name = own[len(start) :]
        # No entries of it: the folder itself, a page's link to elsewhere, or to itself in another order.
        if own.startswith(start) and name and "/" not in name and not (is_web(folder) and "?" in name):
            entries.append(_entry(info, name, _below(folder, name.replace("::", "%3A%3A"))))
    return sorted(entries, key=lambda entry: entry.name)


def _entry(info: dict[str, Any], name: str, url: str) -> Entry:
    if "::" in name and not is_web(url):
        return Entry(name, url, FILE)
    if info.get("islink") or info["type"] == LINK:
        try:
            info = info_of(url)
        except OSError:  # it leads nowhere
            return Entry(name, url, LINK)
        if info["type"] == FOLDER:
            return Entry(name, url, LINK)
    return Entry(unquote(name) if is_web(url) else name, url, info["type"], _size(info))


def _exact(url: str) -> Entry:
    info = info_of(url)
    kind = info["type"]
    if is_web(url) and str(info.get("url", url)).endswith("/"):  # where servers send who forgot the slash
        kind = FOLDER
    if kind not in (FILE, FOLDER):
        raise OSError("neither a file nor a folder")
    return Entry("", url, kind, _size(info))  # its name is the user's, and welcome


def _size(info: dict[str, Any]) -> int:
    size = info.get("size")
    return STREAM if size is None else int(size)


def _expanded(url: str) -> Iterator[str]:
    if not _pattern(url)[1]:
        yield url
        return
    try:
        for entry in named(url):
            yield entry.path
    except OSError:  # who reads it will tell
        return


def _pattern(url: str) -> tuple[str, list[str]]:
    """The folder before the first part with *, ? or [ in it, and the parts from there on.

    >>> _pattern("s3://bucket/2026-*/ham/")
    ('s3://bucket', ['2026-*', 'ham', ''])
    """
    path, archive = unchained(url)
    scheme, _, rest = path.partition("://")
    parts = rest.split("/")
    signs = "*[" if is_web(url) else "*?["  # what follows a ? is for the web server
    host = 0 if archive else 1  # or a bucket
    for place, part in enumerate(parts[host:], host):
        if any(sign in part for sign in signs):
            return f"{scheme}://{'/'.join(parts[:place])}{archive}", parts[place:]
    return url, []


def _matching(folder: str, parts: list[str]) -> Iterator[Entry]:
    """What is below a folder and matches, part by part; ** is any number of folders.

    Each folder is listed once. Below one that matches nothing more is sought: it will be read whole.
    """
    only_folders = parts[-1] == ""
    parts = [part for part in parts if part]
    waiting = [(Entry("", folder, FOLDER), _with_none(parts, {0}))]
    while waiting:
        entry, places = waiting.pop()
        if len(parts) in places:
            if entry.is_dir() or not only_folders:
                yield entry
        elif entry.is_dir():
            below = ((one, _advanced(parts, places, one.name)) for one in reversed(listing(entry.path)))
            waiting += [(one, after) for one, after in below if after]


def _advanced(parts: list[str], places: set[int], name: str) -> set[int]:
    """At which parts one is behind a name, if one was at these."""
    after = set()
    for place in places:
        part = parts[place]
        if part == "**":
            if name[0] != ".":
                after.add(place)
        elif fnmatchcase(name, part) and (name[0] != "." or part[0] == "."):
            after.add(place + 1)
    return _with_none(parts, after)


def _with_none(parts: list[str], places: set[int]) -> set[int]:
    """And those one is at if ** is no folder at all."""
    for place in sorted(places):
        while place < len(parts) and parts[place] == "**":
            place += 1
            places.add(place)
    return places


def _place(url: str) -> tuple[Any, str]:
    """The same for all ways to write an address."""
    store, path = located(url)
    return store, path.strip("/")


def _below(folder: str, name: str) -> str:
    path, archive = unchained(folder)
    return f"{path}{'' if path.endswith('/') else '/'}{name}{archive}"


def _last(url: str) -> str:
    return unchained(url)[0].rstrip("/").rpartition("/")[2]
