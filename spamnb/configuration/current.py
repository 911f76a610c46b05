"""The configuration in force: `spamnb.toml` of the system and of the user, and the senders they list.

TOML takes 20 ms to read, and a list may have 100,000 senders. So what the files say is compiled into a cache,
and compiled anew when one of them changes; a delivery reads that in 0.1 ms, with this one module.

A cache begins with three numbers of 4 bytes: its own length, the length of a msgpack map, and the CRC-32 of
that. The map follows, and then the pages of listed senders (see `SenderLists`).
"""

import os
from binascii import crc32  # zlib's, without loading zlib

from spamnb import __version__
from spamnb.errors import SpamnbError
from spamnb.files import default_model, xdg_folder
from spamnb.labels import HAM, SPAM
from spamnb.store import msgpack_codec
from spamnb.store.records import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.sender import Head

    Stamp = list[int] | None  # time, size and inode of a file; None if it is not there

SYSTEM_FOLDER = "/etc/spamnb"
FILE = "spamnb.toml"
LISTS = ("allow", "block")
HEADER_STYLES = ("spamnb", "bogofilter", "spamassassin")
# Every key with its default, which also tells its type.
DEFAULTS: "dict[str, Any]" = {
    "model": "",
    "ham_loss": "",
    "header_style": HEADER_STYLES[0],
    "header": "X-Spamnb",
    "subject_tag": "",
    "allow": "",
    "block": "",
    "syslog": False,
    "history": False,
    "history_days": 0,
    "history_size": "",
}
HEAD = 12  # bytes before the map
USUAL_SIZE = 1 << 14  # bytes of a cache that are read at once
PAGE = 4096
ENTRY = 8  # bytes
MOST_PARTS = 16  # of a domain, from its end
ALLOWED = 1  # the lowest bit


class SenderLists:
    """Senders that are allowed or blocked, in a cache; those compiled just now are in memory.

    An entry is an address or a domain, which stands for all below it, too. Its fingerprint is kept, whose
    lowest bit tells whether it is allowed, in order, and cut into pages. The first entry of each page, and
    its CRC-32, are in memory: so a look-up reads one page, verified.
    """

    def __init__(
        self, handle: int, start: int, firsts: bytes, checksums: bytes, pages: bytes | None = None
    ) -> None:
        self.handle = handle
        self.start = start  # of the pages in the file
        self.firsts = firsts
        self.checksums = checksums
        self.pages = pages

    def __del__(self) -> None:
        if self.pages is None:
            os.close(self.handle)

    def find(self, address: str, is_doubtful: bool) -> tuple[bool, str] | None:
        """Find a sender: whether it is allowed, and by which entry, of which the closest decides.

        Nobody is allowed if it is doubtful that he is the sender.
        """
        from spamnb.reading.features import fingerprint_of

        for candidate in candidates(address):
            entry = self._look_up(fingerprint_of(candidate.encode("utf-8", "replace")) & ~ALLOWED)
            if entry >= 0:
                return None if entry == ALLOWED and is_doubtful else (entry == ALLOWED, candidate)
        return None

    def _look_up(self, key: int) -> int:
        """Return ALLOWED, 0 for blocked, or -1."""
        low, high = 0, len(self.firsts) // ENTRY
        while high - low > 1:
            middle = (low + high) // 2
            if int.from_bytes(self.firsts[middle * ENTRY : (middle + 1) * ENTRY], "little") <= key | ALLOWED:
                low = middle
            else:
                high = middle
        page = self._page(low)
        for bit in (ALLOWED, 0):
            if place_of(page, key | bit, 0, len(page) // ENTRY, ENTRY) >= 0:
                return bit
        return -1

    def _page(self, number: int) -> bytes:
        at = number * PAGE
        page = (
            os.pread(self.handle, PAGE, self.start + at) if self.pages is None else self.pages[at : at + PAGE]
        )
        if crc32(page) != int.from_bytes(self.checksums[4 * number : 4 * number + 4], "little"):
            raise msgpack_codec.Damaged("a page of senders")
        return page


def candidates(address: str) -> list[str]:
    """List what may be listed of an address: itself, its domain, and the domains above that."""
    local, at, domain = address.rpartition("@")
    if not (local and at and domain and address.isprintable()) or " " in address:
        return []
    parts = domain.rstrip(".").split(".")[-MOST_PARTS:]
    return [address, *[".".join(parts[n:]) for n in range(len(parts))]]


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
        self.origins = origins or {}  # by key, the file that says so
        self.sources = sources or {}  # all files that it is made of, or would be if they were there
        self.senders = senders

    def __getitem__(self, key: str) -> "Any":
        return self.values[key]

    @property
    def is_fresh(self) -> bool:
        """Whether no file has changed since."""
        return all(stamp_of(path) == stamp for path, stamp in self.sources.items())

    def decide(self, verdict: "Verdict", raw: bytes) -> "Verdict":
        """Change the verdict on a message if its sender is listed, and say so in it."""
        if self.senders is not None:
            from spamnb.reading.sender import read_head

            self.decide_by_head(verdict, read_head(raw))
        return verdict

    def decide_by_head(self, verdict: "Verdict", head: "Head") -> None:
        listed = self.find_sender(head)
        if listed is not None:
            is_allowed, entry = listed
            verdict.reason = f"{'allowed' if is_allowed else 'blocked'}={entry}"
            shares = verdict.probabilities
            others = [label for label in shares if label != SPAM]
            verdict.label = (max(others, key=shares.__getitem__) if others else HAM) if is_allowed else SPAM

    def find_sender(self, head: "Head") -> tuple[bool, str] | None:
        """Find the sender of a message in the lists: whether it is allowed or else blocked, and by what."""
        if self.senders is None:
            return None
        address, _, is_doubtful = head
        try:
            return self.senders.find(address, is_doubtful)
        except (msgpack_codec.Damaged, OSError):
            self.senders = compiled_anew().senders
            return None if self.senders is None else self.senders.find(address, is_doubtful)


def load() -> Configuration:
    """Return the configuration in force: that of the cache, compiled anew if need be."""
    sources = stamps()
    if not any(sources.values()):
        return Configuration()
    path = cache_path()
    found = None if path is None else read_cache(path, sources)
    return compiled_anew() if found is None else found


def compiled_anew() -> Configuration:
    """Compile the files. What does it is seldom loaded, and by name: it imports this module in its turn."""
    compiling = __import__("spamnb.configuration.compiling", fromlist=["compile_files"])
    try:
        found: Configuration = compiling.compile_files()
        return found
    except SpamnbError as error:  # a mistake in a file is no reason to give up on mail: try again
        raise SpamnbError(str(error)) from error


def model_path(configuration: Configuration | None = None) -> str:
    """Path of the model: $SPAMNB_MODEL, else as configured, else in the XDG data folder."""
    named: str = os.environ.get("SPAMNB_MODEL") or (configuration or load())["model"]
    return named or default_model()


def config_folders() -> list[str]:
    """Folders of the system's and the user's files, the latter last, as it has the last word."""
    own = xdg_folder("XDG_CONFIG_HOME", ".config")
    return [SYSTEM_FOLDER, *([os.path.join(own, "spamnb")] if own else [])]


def stamps() -> "dict[str, Stamp]":
    """Take the stamps of the files that are looked for even if no other names them."""
    names = (FILE, *[f"{name}.txt" for name in LISTS])
    paths = [f"{folder}/{name}" for folder in config_folders() for name in names]
    return {path: stamp_of(path) for path in paths}


def cache_path() -> str | None:
    folder = xdg_folder("XDG_CACHE_HOME", ".cache")
    return os.path.join(folder, "spamnb", "configuration.cache") if folder else None


def stamp_of(path: str) -> "Stamp":
    """Stamp that differs once a file was changed or replaced; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def read_cache(path: str, sources: "dict[str, Stamp]") -> Configuration | None:
    """Read a cache; None if there is none, or if it is another user's, damaged or older than a source.

    `sources` are the usual ones as they are now.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        found = parsed_cache(handle, sources)
    except (OSError, KeyError, TypeError, AttributeError, msgpack_codec.Damaged):
        found = None
    if found is None or found.senders is None:
        os.close(handle)
    return found


def parsed_cache(handle: int, sources: "dict[str, Stamp]") -> Configuration | None:
    data, status = os.pread(handle, USUAL_SIZE, 0), os.fstat(handle)
    size, map_size, checksum = [int.from_bytes(data[at : at + 4], "little") for at in (0, 4, 8)]
    if status.st_uid != os.geteuid() or size != status.st_size:
        return None
    if map_size > size:
        return None
    if map_size > len(data) - HEAD:
        data = os.pread(handle, HEAD + map_size, 0)
    packed = data[HEAD : HEAD + map_size]
    if crc32(packed) != checksum:
        return None
    head = msgpack_codec.unpack(packed)[0]
    now = {source: sources[source] if source in sources else stamp_of(source) for source in head["sources"]}
    if head["program"] != __version__ or now != head["sources"] or not sources.keys() <= now.keys():
        return None
    for name, value in head["values"].items():
        is_text = isinstance(value, str) and value.isprintable()  # in a header, no other text will do
        if not is_text if isinstance(DEFAULTS[name], str) else not (is_text or isinstance(value, int)):
            return None
    senders = None
    if head["firsts"]:
        senders = SenderLists(handle, HEAD + map_size, bytes(head["firsts"]), bytes(head["checksums"]))
    return Configuration(head["values"], head["origins"], head["sources"], senders)
