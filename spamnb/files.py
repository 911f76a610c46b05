"""Read and write whole files and standard streams; paths of the default model and of other data."""

import os
import stat
from _thread import allocate_lock

from spamnb.errors import NoInput, NoModel, UsageError

STDIN, STDOUT, STDERR = 0, 1, 2
DATABASE_SUFFIXES = ("-journal", "-wal", "-shm", "")  # of the files of an SQLite database
CREATING = allocate_lock()
EPERM = 1  # on every system; importing `errno` would cost a delivery time


def reserve_standard_handles() -> None:
    """Open /dev/null for each closed standard stream, in a mode in which using that stream still fails.

    Otherwise the next file to be opened would get the stream's number, and output might go into a model.
    """
    for handle, mode in ((STDIN, os.O_WRONLY), (STDOUT, os.O_RDONLY), (STDERR, os.O_WRONLY)):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest free number


JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # Persian and joined emoji need them


def printable(text: str) -> str:
    """Replace characters that a terminal would obey or not show, because the text may come from mail."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in JOINERS else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def is_address(path: str) -> bool:
    """Return whether a path is an address that fsspec opens, such as s3://bucket/folder/."""
    return "://" in path


def refuse_password(path: str) -> None:
    """Raise UsageError for an address that contains a password, like sftp://user:password@host/file.

    The password would be in the list of processes, and in every message that names the path.
    """
    import re

    # Other colons: before the port of a host, before an address in an address (::), in Amazon's names (arn:).
    if re.search(r"://(?!arn:|\[)[^/@:]*:(?!:|\d*([/?#]|$))", path):
        raise UsageError(
            "an address must not contain a password, since others could see it; see docs/reading-mail.md"
        )


def without_queries(text: str) -> str:
    """Remove `?` and what follows from web addresses in a text: this may be a signature that gives access."""
    if "?" not in text or "://" not in text:
        return text
    import re

    return re.sub(r"(https?://[^\s?]*)\?\S*?(?=(?::\d+)?[:;,'\")]*(?:\s|$))", r"\1", text)


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as "1 message" or "2 messages"."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def complain(why: str) -> None:
    """Write an error or a warning as one line to standard error."""
    write_stderr(f"spamnb: {printable(without_queries(why))}\n")


def write_stderr(text: str) -> None:
    """Write a text to standard error; if writing fails, raise no error."""
    try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
        write_all(STDERR, text.encode())
    except OSError:
        pass


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def announce_stdin(what: str) -> None:
    """If standard input is a terminal, print what the program is waiting for."""
    if os.isatty(STDIN):
        complain(f"waiting for {what} on standard input; end it with Ctrl-D")


def read_all(handle: int) -> bytes:
    pieces = []
    while piece := os.read(handle, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def open_beside(model: str, path: str, flags: int, with_mode: bool = False) -> int:
    """Open a file beside a model, or create it (O_CREAT); raise OSError if its owner is not trusted.

    Others who can write to the folder may have put something there: a link, a pipe, or a file of their own.
    This user, root, and the owners of the folder and of the model are trusted. A new file gets the model's
    owner, and with `with_mode` also the model's mode; otherwise only the owner can read the file.
    """
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags | os.O_EXCL if flags & os.O_CREAT else flags, 0o600)
        if flags & os.O_CREAT:
            keep_owner(handle, model, with_mode)
    except FileExistsError:
        handle = os.open(path, flags, 0o600)
    try:
        check_owner(os.fstat(handle), model, path)
    except OSError:
        os.close(handle)
        raise
    return handle


def check_owner(status: os.stat_result, model: str, path: str) -> None:
    """Raise PermissionError unless `path` is a regular file of a trusted user (see `open_beside`)."""
    why = ""
    if not stat.S_ISREG(status.st_mode):
        why = "not a regular file"
    elif status.st_uid not in (os.geteuid(), 0) and status.st_uid not in _owners(model):
        why = "belongs to another user; remove it if you did not put it there"
    if why:
        raise PermissionError(EPERM, why, path)


def keep_owner(handle: int, model: str, with_mode: bool = False) -> None:
    """Give a new file the owner and group of a model, as far as the system permits this.

    If there is no model yet and this user is root, take owner and group from the folder. With `with_mode`,
    also copy the model's mode, but no rights for the group if the file could not get the model's group.
    """
    is_there = os.path.exists(model)
    like = os.stat(model if is_there else os.path.dirname(model) or ".")
    own = os.fstat(handle)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid) and (is_there or not os.geteuid()):
        for user in (like.st_uid, -1):
            try:
                os.fchown(handle, user, like.st_gid)
                break
            except OSError:
                pass  # only root can give it to another user
    if with_mode and is_there:
        has_group = os.fstat(handle).st_gid == like.st_gid
        os.fchmod(handle, like.st_mode & (0o666 if has_group else 0o606))


def open_own(path: str, flags: int) -> int:
    """Open or create a file; raise OSError if its owner is not this user, root or the folder's owner."""
    return open_beside(os.path.join(os.path.dirname(path), ""), path, flags)


def prepare_database(path: str) -> None:
    """Create an SQLite database if it is missing; raise OSError if `check_owner` refuses one of its files.

    An existing file is not opened: closing the file would drop the locks that SQLite has on it.
    """
    folder = os.path.join(os.path.dirname(path), "")
    with CREATING:  # another thread must not have SQLite open the file before it is closed here
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            pass
        else:
            try:
                keep_owner(handle, folder)
            finally:
                os.close(handle)
    for suffix in DATABASE_SUFFIXES:
        try:  # noqa: SIM105 (as above)
            check_owner(os.lstat(path + suffix), folder, path + suffix)
        except FileNotFoundError:
            pass


def _owners(model: str) -> list[int]:
    """Return the owners of a model's folder and, if the model exists, of the model."""
    paths = [os.path.dirname(model) or "."]
    if os.path.exists(model):
        paths.append(model)
    return [os.stat(path).st_uid for path in paths]


def make_folder(path: str) -> None:
    """Make a folder and its missing parents with mode 700. If root makes one, it gets its parent's owner."""
    parent = os.path.dirname(path.rstrip("/"))
    if parent and not os.path.exists(parent):
        make_folder(parent)
    try:
        os.mkdir(path or ".", 0o700)
    except FileExistsError:
        if not os.path.isdir(path or "."):
            raise
        return
    if not os.geteuid():
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        keep_owner(handle, os.path.join(parent, ""))
        os.close(handle)


def state_folder(name: str) -> str:
    """Return the path of `name` in $XDG_STATE_HOME/spamnb; let only this user open that folder."""
    parent = xdg_folder("XDG_STATE_HOME", ".local", "state")
    if parent is None:
        raise NoInput("there is no home folder to store data in; set $XDG_STATE_HOME")
    folder = os.path.join(parent, "spamnb")
    try:
        status = os.stat(folder)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.chmod(folder, 0o700)
    except OSError:
        pass  # not there yet
    return os.path.join(folder, name)


def sync_folder(path: str) -> None:
    """Sync the folder of a file to disk, so that the file's new name survives a crash.

    Some file systems cannot sync folders; the error that they report is ignored.
    """
    handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        import errno

        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(handle)


def stamp_of(path: str, follow_symlinks: bool = True) -> tuple[int, int, int] | None:
    """Return inode, modification time and size of a file, to notice changes; None if there is no file."""
    try:
        status = os.stat(path, follow_symlinks=follow_symlinks)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def model_file(path: str) -> str:
    """Return a model's path with symbolic links followed: journal and lock are beside the real file."""
    if is_address(path):
        raise UsageError("a model must be a local file, not an address; copy it to this computer")
    return os.path.realpath(path) if os.path.islink(path) else path


def known_file(model: str) -> str:
    """Return the path of the list of people known to a model's owner (senders/people.py)."""
    return os.path.join(os.path.dirname(model), "known.txt")


def data_folder() -> str:
    """Return $XDG_DATA_HOME, or ~/.local/share if it is not set."""
    folder = xdg_folder("XDG_DATA_HOME", ".local", "share")
    if folder is None:
        raise NoModel("there is no home folder to find a model in; use --model or $SPAMNB_MODEL")
    return folder


def xdg_folder(variable: str, *below_home: str) -> str | None:
    """Return the folder that an environment variable names or, if unset or relative, a folder in the home.

    Return None if neither path is absolute, as for a user without a home folder.
    """
    in_home = os.path.join(os.path.expanduser("~"), *below_home)
    for folder in (os.environ.get(variable, ""), in_home):
        if os.path.isabs(folder):  # without a home, `~` stays `~`
            return folder
    return None
