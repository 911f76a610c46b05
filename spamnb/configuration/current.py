"""The configuration in force: `spamnb.toml` of the system and of the user, and the senders they list.

TOML takes 20 ms to read. So what the files say is kept in a cache, and read anew when one of them changes; a
delivery reads the cache in 0.1 ms. It is the CRC-32 of what follows (4 bytes), and a msgpack map.
"""

import os
from binascii import crc32

from spamnb import __version__
from spamnb.errors import SpamnbError
from spamnb.files import default_model, make_folder, write_all, xdg_folder
from spamnb.store import msgpack_codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.envelope import Envelope
    from spamnb.senders.lists import SenderLists

    Stamp = list[int] | None  # time, size and inode of a file; None if it is not there

SYSTEM_FOLDER = "/etc/spamnb"
FILES = ("allow.txt", "block.txt", "spamnb.toml")  # looked for in each folder; the last has the last word
# Every key with its default, which also tells its type.
DEFAULTS: "dict[str, Any]" = {
    "model": "",
    "ham_loss": "",
    "header_style": "spamnb",
    "header": "X-Spamnb",
    "subject_tag": "",
    "allow": "",
    "block": "",
    "syslog": False,
    "history": False,
    "history_days": 0,
    "history_size": "",
}
CHECKSUM = 4  # bytes
# Nanoseconds: a file written since may change once more without another time; clocks of file servers differ.
SETTLED, SKEW = 50_000_000, 10_000_000_000


class Configuration:
    """What is configured: the value of each key, where it comes from, and the senders that are listed."""

    def __init__(
        self,
        values: "dict[str, Any] | None" = None,
        origins: "dict[str, str] | None" = None,
        sources: "dict[str, Stamp] | None" = None,
        senders: "SenderLists | None" = None,
    ) -> None:
        self.values = DEFAULTS | (values or {})
        self.origins = origins or {}  # by key, the file that says so; the cache has none
        self.sources = sources or {}  # all files that it is made of, or would be if they were there
        self.senders = senders

    def __getitem__(self, key: str) -> "Any":
        return self.values[key]

    @property
    def is_fresh(self) -> bool:
        """Whether no file has changed since."""
        return all(stamp_of(path) == stamp for path, stamp in self.sources.items())

    def decide(self, verdict: "Verdict", envelope: "Envelope") -> "Verdict":
        """Change the verdict on a message if its sender is listed, and say so in it."""
        if self.senders is not None:
            self.senders.decide(verdict, envelope)
        return verdict


def load() -> Configuration:
    """Return the configuration in force: that of the cache, or read from its files if they have changed."""
    sources = stamps()
    if not any(sources.values()):
        return Configuration()
    path = cache_path()
    found = None if path is None else read_cache(path, sources)
    if found is None:
        try:
            return read_anew()
        except SpamnbError as error:  # a mistake in a file is no reason to give up on mail: try again
            raise SpamnbError(str(error)) from error
    return found


def read_anew() -> Configuration:
    """Read the files that there are, and write the cache, if that can be done.

    Stamps are taken before the files are read: what changes meanwhile is noticed the next time.
    """
    from time import time_ns

    from spamnb.configuration.source_files import read_files, read_senders

    sources = stamps()
    values, origins = read_files(sources, DEFAULTS)
    for name in ("allow", "block"):
        if values.get(name):
            sources.setdefault(values[name], stamp_of(values[name]))
    senders = read_senders(values, origins)
    now, path = time_ns(), cache_path()
    if path and not any(stamp and now - SETTLED < stamp[0] < now + SKEW for stamp in sources.values()):
        cached = {"program": __version__, "values": values, "sources": sources, "senders": senders.entries}
        try:
            packed = msgpack_codec.pack(cached)
            write_cache(path, crc32(packed).to_bytes(CHECKSUM, "little") + packed)
        except (OSError, ValueError):
            pass  # then they are read each time
    return Configuration(values, origins, sources, senders if senders.entries else None)


def model_path(configuration: Configuration | None = None) -> str:
    """Path of the model: $SPAMNB_MODEL, else as configured, else in the XDG data folder."""
    named: str = os.environ.get("SPAMNB_MODEL") or (configuration or load())["model"]
    return named or default_model()


def stamps() -> "dict[str, Stamp]":
    """Take the stamps of the files that are looked for: the system's, then the user's."""
    own = xdg_folder("XDG_CONFIG_HOME", ".config")
    folders = [SYSTEM_FOLDER, *([f"{own}/spamnb"] if own else [])]
    paths = [f"{folder}/{name}" for folder in folders for name in FILES]
    return {path: stamp_of(path) for path in paths}


def stamp_of(path: str) -> "Stamp":
    """Stamp that differs once a file was changed or replaced; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def cache_path() -> str | None:
    folder = xdg_folder("XDG_CACHE_HOME", ".cache")
    return os.path.join(folder, "spamnb", "configuration.cache") if folder else None


def read_cache(path: str, sources: "dict[str, Stamp]") -> Configuration | None:
    """Read a cache; None if there is none, or if it is another user's, damaged or older than a source.

    `sources` are the usual ones as they are now.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(handle)
            data = os.read(handle, status.st_size)
        finally:
            os.close(handle)
        if status.st_uid == os.geteuid() and crc32(data[CHECKSUM:]) == int.from_bytes(
            data[:CHECKSUM], "little"
        ):
            return sound_configuration(msgpack_codec.unpack(data, CHECKSUM)[0], sources)
    except (OSError, KeyError, TypeError, AttributeError, msgpack_codec.Damaged):
        pass
    return None


def sound_configuration(cached: "dict[str, Any]", sources: "dict[str, Stamp]") -> Configuration | None:
    """Make a configuration of what a cache has; None if it is of another release, or older than a source."""
    now = {path: sources[path] if path in sources else stamp_of(path) for path in cached["sources"]}
    if cached["program"] != __version__ or now != cached["sources"] or not sources.keys() <= now.keys():
        return None
    for name, value in cached["values"].items():
        is_text = isinstance(value, str) and value.isprintable()  # in a header, no other text will do
        if not is_text if isinstance(DEFAULTS[name], str) else not (is_text or isinstance(value, int)):
            return None
    senders = None
    if cached["senders"]:
        from spamnb.senders.lists import SenderLists

        senders = SenderLists(bytes(cached["senders"]))
    return Configuration(cached["values"], {}, cached["sources"], senders)


def write_cache(path: str, data: bytes) -> None:
    """Put a cache in place, whole; it need not survive a crash."""
    make_folder(os.path.dirname(path))
    new = f"{path}.{os.getpid()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
        os.replace(new, path)
    except OSError:
        os.unlink(new)
        raise
