"""Reading and writing whole files and standard streams, and where the default model lies."""

import os
import stat
from _thread import allocate_lock

from spamnb.errors import NoInput, NoModel

STDIN, STDOUT, STDERR = 0, 1, 2
DATABASE_SUFFIXES = ("-journal", "-wal", "-shm", "")  # of all files of an SQLite database
CREATING = allocate_lock()
EPERM = 1  # on every system: a delivery does without `errno`, which has 130 others


def reserve_standard_handles() -> None:
    """Open /dev/null for each closed standard stream: else the next file opened would take its number.

    An answer would then go into a model, or an error message into a mail. The modes are such that to read
    from a closed standard input, or to write to a closed standard output, remains an error.
    """
    for handle, mode in ((STDIN, os.O_WRONLY), (STDOUT, os.O_RDONLY), (STDERR, os.O_WRONLY)):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest number that is free


JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # without them Persian and joined emoji fall apart


def printable(text: str) -> str:
    """Replace characters that a terminal would obey or not show, in text from mail or a file name."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in JOINERS else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def counted(number: int, thing: str) -> str:
    """Write how many there are of a thing, as `1 message` or `2 messages`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def complain(why: str) -> None:
    """Write an error or a warning as one line to standard error."""
    write_stderr(f"spamnb: {printable(why)}\n")


def write_stderr(text: str) -> None:
    """Write a text that may be lost: where standard error cannot be written, that is no error."""
    try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
        write_all(STDERR, text.encode())
    except OSError:
        pass


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def announce_stdin(what: str) -> None:
    """Say what is waited for, where standard input is a terminal: else nothing would seem to happen."""
    if os.isatty(STDIN):
        complain(f"waiting for {what} on standard input; Ctrl-D ends it")


def read_all(handle: int) -> bytes:
    pieces = []
    while piece := os.read(handle, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def open_beside(model: str, path: str, flags: int, with_mode: bool = False) -> int:
    """Open a file that lies beside a model, or create it for this user only; a stranger's is an OSError.

    Where others can write to the folder, they may have put it there beforehand: a link, a pipe, or a file of
    their own. Trusted are this user, root, and the owners of the folder and of the model. A new file gets
    the model's owner, and its mode if asked for.
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
    """Refuse what is no regular file, or belongs to somebody who is not trusted."""
    why = ""
    if not stat.S_ISREG(status.st_mode):
        why = "not a regular file"
    elif status.st_uid not in (os.geteuid(), 0) and status.st_uid not in _owners(model):
        why = "belongs to another user; remove it if you did not put it there"
    if why:
        raise PermissionError(EPERM, why, path)


def keep_owner(handle: int, model: str, with_mode: bool = False) -> None:
    """Give a new file the owner of the model that it belongs to or replaces: a service must read it.

    Where there is no model yet, root gives it to the owner of the folder. With the mode, all may read it who
    may read the model; its group only if that could be kept, too.
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
                pass  # who is not root can give it to a group of theirs at most
    if with_mode and is_there:
        has_group = os.fstat(handle).st_gid == like.st_gid
        os.fchmod(handle, like.st_mode & (0o666 if has_group else 0o606))


def open_own(path: str, flags: int) -> int:
    """Open a file by the same rules where there is no model."""
    return open_beside(os.path.join(os.path.dirname(path), ""), path, flags)


def prepare_database(path: str) -> None:
    """Create an SQLite database if there is none; one of a stranger, or with a log of his, is an OSError.

    A file that is there is not opened: to close it would drop the locks that SQLite has on it.
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
    """Owners of a model's folder, and of the model if there is one."""
    paths = [os.path.dirname(model) or "."]
    if os.path.exists(model):
        paths.append(model)
    return [os.stat(path).st_uid for path in paths]


def make_folder(path: str) -> None:
    """Make a folder, and those around it that are missing, for this user only, whatever the umask."""
    around = os.path.dirname(path.rstrip("/"))
    if around and not os.path.exists(around):
        make_folder(around)
    try:
        os.mkdir(path or ".", 0o700)
    except FileExistsError:
        if not os.path.isdir(path or "."):
            raise
        return
    if not os.geteuid():
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        keep_owner(handle, os.path.join(around, ""))
        os.close(handle)


def state_folder(name: str) -> str:
    """Folder of a name in spamnb's own of the XDG state folder, which is closed to others if it is ours."""
    around = xdg_folder("XDG_STATE_HOME", ".local", "state")
    if around is None:
        raise NoInput("no home folder to keep it in; name one with $XDG_STATE_HOME")
    folder = os.path.join(around, "spamnb")
    try:
        status = os.stat(folder)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.chmod(folder, 0o700)
    except OSError:
        pass  # not there yet
    return os.path.join(folder, name)


def sync_folder(path: str) -> None:
    """Sync the folder of a file, so that its new name survives a crash.

    Some file systems can sync files only, and say so; what is in the file is on the disk all the same.
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


def default_model() -> str:
    """Path of the model: $SPAMNB_MODEL, else spamnb/model.msgpack in the XDG data folder."""
    return os.environ.get("SPAMNB_MODEL") or os.path.join(data_folder(), "spamnb", "model.msgpack")


def model_file(path: str) -> str:
    """Path of the file that a link leads to: the journal of a model, and its lock lie beside that."""
    return os.path.realpath(path) if os.path.islink(path) else path


def known_file(model: str) -> str:
    """Path of the people whom the owner of a model knows; see senders/people.py."""
    return os.path.join(os.path.dirname(model), "known.txt")


def data_folder() -> str:
    """Folder $XDG_DATA_HOME, else ~/.local/share."""
    folder = xdg_folder("XDG_DATA_HOME", ".local", "share")
    if folder is None:
        raise NoModel("no home folder to look for a model in; name the model with --model or $SPAMNB_MODEL")
    return folder


def xdg_folder(variable: str, *below_home: str) -> str | None:
    """Folder that a variable names, if it is absolute, as the XDG standard wants; else one below the home.

    None for a user without a home.
    """
    in_home = os.path.join(os.path.expanduser("~"), *below_home)
    for folder in (os.environ.get(variable, ""), in_home):
        if os.path.isabs(folder):  # without a home, `~` stays `~`
            return folder
    return None
