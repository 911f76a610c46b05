"""Errors, each with its exit code from sysexits.h.

SpamnbError            75  anything unexpected: try again
├── UsageError         64  the arguments or options are wrong
├── DataError          65  the input is wrong
│   └── ModelError     65  the model file is damaged, or of another program or version
├── NoInput            66  a path is missing or cannot be read
├── CannotCreate       73  the model cannot be written
├── InputOutputError   74  reading or writing failed half-way
│   ├── ReaderGone         the reader of the output has closed it: the program ends as if by SIGPIPE
│   └── SetAside           a damaged database was replaced by a new one: the caller can try again
├── NoModel            75  nothing has been trained yet
└── Locked             75  another process is writing the model
"""

WHAT_TO_DO = "restore the model from a backup, or train again with --fresh"  # about a damaged model
EMPTY_INPUT = "-: standard input is empty"


def command_to_run(*words: str) -> str:
    """Return a command line, made of these words, that a user can paste into a shell."""
    return " ".join(["spamnb", *map(quoted, words)])


def quoted(word: str) -> str:
    """Quote a word for a shell if necessary; shlex is not used, as it would load `re`, which takes 9 ms."""
    if word and all(char.isascii() and (char.isalnum() or char in "@%+=:,./-_") for char in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


class SpamnbError(Exception):
    """The base class of all errors of spamnb. The text says in one line what is wrong and what to do."""

    exit_code = 75


class UsageError(SpamnbError):
    exit_code = 64


class DataError(SpamnbError):
    exit_code = 65


class ModelError(DataError):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class NoInput(SpamnbError):
    exit_code = 66


class CannotCreate(SpamnbError):
    exit_code = 73


class InputOutputError(SpamnbError):
    exit_code = 74


class ReaderGone(InputOutputError):
    pass


class SetAside(InputOutputError):
    pass


class NoModel(SpamnbError):
    pass


class Locked(SpamnbError):
    pass


def needs_extra(what: str, extra: str) -> UsageError:
    """Return an error with the command that installs the optional packages (`extra`) that `what` needs."""
    import sys
    from importlib.metadata import PackageNotFoundError, distribution
    from importlib.util import find_spec
    from urllib.parse import unquote

    try:  # what pip notes of where a package came from (PEP 610), in JSON
        origin = (distribution("spamnb").read_text("direct_url.json") or "").replace(" ", "")
    except PackageNotFoundError:
        origin = ""
    url = origin.partition('"url":"')[2].partition('"')[0]
    source = f"spamnb[{extra}] @ {url}" if url else f"spamnb[{extra}]"
    if "dir_info" in origin:
        source = f"{unquote(url.removeprefix('file://'))}[{extra}]"
    python = quoted(sys.executable)
    way = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    way += " -e" if '"editable":true' in origin else ""
    return UsageError(f"{what} needs a package that is missing; install it with: {way} {quoted(source)}")
