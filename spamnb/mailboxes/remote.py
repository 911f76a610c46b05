"""Mail at addresses such as s3://bucket/folder/ or sftp://host/file, which the package fsspec opens.

A web address is a single file, and so is an address in an archive (zip://mail.mbox::s3://bucket/mail.zip).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spamnb.errors import SpamnbError, UsageError, needs_extra
from spamnb.files import refuse_password
from spamnb.mailboxes.streams import STREAM, blocks_of, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE, FOLDER = "file", "directory"  # as fsspec calls them
MAX_BLOCK = 8 << 20  # bytes of a request: sending them takes far longer than waiting for the answer
MAX_REQUESTS = 16  # at the same time, for small files: each takes far longer to be answered than to be sent
MAX_REASON = 300  # characters of a library's error message


class RemoteEntry:
    """A file or folder at an address, with the methods of os.DirEntry that the search for mail uses."""

    __slots__ = ("kind", "name", "path", "st_size")

    def __init__(self, path: str, info: dict[str, Any]) -> None:
        self.path = path
        self.name = path.rpartition("/")[2]
        self.kind = str(info["type"])
        size = info.get("size")  # some web servers do not say
        self.st_size = STREAM if size is None else int(size)

    def is_dir(self) -> bool:
        return self.kind == FOLDER

    def is_file(self) -> bool:
        return self.kind == FILE

    def is_symlink(self) -> bool:
        return False

    def stat(self) -> RemoteEntry:
        return self


def blocks(url: str) -> Iterator[bytes]:
    """Yield the blocks of the file at `url`; each block is requested only when it is needed."""
    with _os_errors():
        fs, path = _located(url)
        block = 0 if _is_web(url) else MAX_BLOCK  # some web servers send only whole files
        with fs.open(path, "rb", block_size=block) as file:
            yield from blocks_of(file.read)


def whole_files(urls: list[str]) -> dict[str, Iterator[bytes]]:
    """Read small files, several at a time; return {address: blocks}. Reading the blocks raises any error."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(MAX_REQUESTS) as pool:
        answers = [pool.submit(lambda url: b"".join(blocks(url)), url) for url in urls]
    return {url: (one.result() for one in [answer]) for url, answer in zip(urls, answers, strict=True)}


def matching(url: str) -> list[RemoteEntry]:
    """Return the file or folder at an address or, if this is a pattern with *, ? or [, the sorted matches."""
    with _os_errors():
        fs, path = _located(url)
        folder = _folder_of(url)
        if not folder:
            return [RemoteEntry(url, fs.info(path))]
        entries = _entries(fs, folder, fs.glob(path, detail=True).values())
    found: list[RemoteEntry] = []
    for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
        # Hidden names match if the pattern has the dot. What is below a folder is read with it.
        hidden = "/." in entry.path[len(folder) :] and "/." not in url[len(folder) :]
        if not hidden and not (found and entry.path.startswith(f"{found[-1].path}/")):
            found.append(entry)
    if not found:
        raise OSError("no file or folder matches this pattern")
    return found


def entries(folder: str) -> list[RemoteEntry]:
    """Return the files and folders in a folder, which is given by its address."""
    with _os_errors():
        fs, path = _located(folder)
        return _entries(fs, folder, fs.ls(path, detail=True))


def kind(url: str) -> str:
    """Return whether an address is a FILE or a FOLDER; "" if there is neither or no server answers."""
    try:
        return matching(url)[0].kind
    except OSError:
        return ""


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _folder_of(url: str) -> str:
    """Return the last folder before the first *, ? or [ in a pattern; "" if the address is not a pattern."""
    end = min((at for wildcard in "*?[" if (at := url.find(wildcard)) >= 0), default=0)
    folder = url[:end].rpartition("/")[0]
    return "" if _is_web(url) or "::" in url or "://" not in folder else folder


def _located(url: str) -> tuple[Any, str]:
    """Return fsspec's file system for an address, and the path in it."""
    refuse_password(url)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise needs_extra("mail at an address with ://", "cluster") from None
    from logging import NullHandler, root

    if not root.handlers:  # else libraries print tracebacks between the lines of spamnb
        root.addHandler(NullHandler())
    try:
        fs, path = url_to_fs(url)
    except ImportError as error:  # names the package to install
        raise UsageError(f"{url}: {error}") from error
    return fs, path


def _entries(fs: Any, folder: str, infos: Iterable[dict[str, Any]]) -> list[RemoteEntry]:
    """Return an entry for each item of `infos`, fsspec's list of a folder, except for the folder itself."""
    start = len(_located(folder)[1].strip("/"))
    found = [(info["name"].strip("/")[start:].strip("/"), info) for info in infos]
    fs.invalidate_cache()  # it would keep everything it listed
    # A name with :: would be taken for an address in an address.
    found = [(name, info) for name, info in found if name and "::" not in name]
    return [RemoteEntry(f"{folder.rstrip('/')}/{name}", info) for name, info in found]


@contextmanager
def _os_errors() -> Iterator[None]:
    """Turn any error of a library into an OSError that says on one line what went wrong."""
    try:
        yield
    except SpamnbError:
        raise
    except Exception as error:
        raise OSError(_reason(error)) from error


def _reason(error: BaseException) -> str:
    cause: Any = error.__cause__
    if hasattr(cause, "status") and hasattr(cause, "message"):  # of a web server: fsspec hides anything else
        return f"{cause.status} {cause.message}"
    if isinstance(error, FileNotFoundError):
        return _reason(cause) if isinstance(cause, OSError) else "no such file or folder"
    if isinstance(error, PermissionError):
        return "permission denied"
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return " ".join(reason.split())[:MAX_REASON] or type(error).__name__
