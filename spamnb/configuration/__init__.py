"""The configuration in use: `spamnb.toml` of the system and of the user, and the lists of senders."""

import os

from spamnb.errors import SpamnbError
from spamnb.files import data_folder, known_file, stamp_of, xdg_folder
from spamnb.labels import SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.envelope import Envelope
    from spamnb.senders.lists import SenderLists
    from spamnb.store.stored_model import StoredModel

    Stamps = dict[str, tuple[int, int, int] | None]  # by path, as `stamp_of` makes them

SYSTEM_FOLDER = "/etc/spamnb"
FILES = (
    "allow.txt",
    "block.txt",
    "spamnb.toml",
)  # looked for in each folder; spamnb.toml comes last, since it may name other lists
# Every key with its default value, which also defines its type.
DEFAULTS: "dict[str, Any]" = {
    "model": "",
    "ham_loss": "",
    "header_style": "spamnb",
    "header": "X-Spamnb",
    "subject_tag": "",
    "reasons": False,
    "allow": "",
    "block": "",
    "known": "",
    "syslog": False,
    "history": False,
    "history_days": 0,
    "history_size": "",
}


class Configuration:
    """The configuration: the value of each key, the file that sets it, and the lists of senders."""

    def __init__(
        self,
        values: "dict[str, Any] | None" = None,
        origins: "dict[str, str] | None" = None,
        sources: "Stamps | None" = None,
        senders: "SenderLists | None" = None,
    ) -> None:
        self.values = DEFAULTS | (values or {})
        self.origins = origins or {}  # by key: the file that sets it
        self.sources = sources or {}  # by path: the stamp of each file looked for; None if missing
        self.senders = senders

    def __getitem__(self, key: str) -> "Any":
        return self.values[key]

    @property
    def is_fresh(self) -> bool:
        """Whether the configuration files are unchanged since they were read."""
        return all(stamp_of(path) == stamp for path, stamp in self.sources.items())

    def decide(
        self, verdict: "Verdict", envelope: "Envelope", stored: "StoredModel | None" = None
    ) -> "Verdict":
        """Change a verdict and its reason if the sender is allowed, blocked or known; return it."""
        if self.senders is not None:
            self.senders.decide(verdict, envelope)
        if stored and verdict.label == SPAM and self.has_people(stored):
            from spamnb.senders.people import People

            People(stored.path, self["known"]).protect(verdict, envelope, stored)
        return verdict

    def has_people(self, stored: "StoredModel | None") -> bool:
        """Return whether the owner of a model has a list of known senders (`known.txt`) or of contacts."""
        return stored is not None and (self["known"] != "" or os.path.exists(known_file(stored.path)))

    def may_decide(self, verdict: "Verdict", stored: "StoredModel | None") -> bool:
        """Return whether `decide` may change this verdict; if not, nobody needs to read the envelope."""
        return self.senders is not None or (verdict.label == SPAM and self.has_people(stored))


def load() -> Configuration:
    """Read the configuration; raise a mistake in a file as a temporary error, so that delivery is retried."""
    try:
        return read_configuration()
    except SpamnbError as error:
        raise SpamnbError(str(error)) from error


def read_configuration() -> Configuration:
    """Read the configuration files; if there are none, save 20 ms by not importing the code that reads them.

    The files' stamps (times, sizes) are taken before the files are read, so that no later change is missed.
    """
    sources = stamps()
    if not any(sources.values()):
        return Configuration(sources=sources)
    from spamnb.configuration.source_files import read_files, read_senders

    values, origins = read_files(sources, DEFAULTS)
    for name in ("allow", "block"):
        if values.get(name):
            sources.setdefault(values[name], stamp_of(values[name]))
    senders = read_senders(values, origins)
    return Configuration(values, origins, sources, senders if senders.entries else None)


def model_path(configuration: Configuration | None = None) -> str:
    """Return the model's path: $SPAMNB_MODEL, else the configured path, else one in the XDG data folder."""
    named: str = os.environ.get("SPAMNB_MODEL") or (configuration or load())["model"]
    return named or os.path.join(data_folder(), "spamnb", "model.msgpack")


def stamps() -> "Stamps":
    """Return the stamp of each configuration file, by path, first the system's; a change alters the stamp."""
    own = xdg_folder("XDG_CONFIG_HOME", ".config")
    folders = [SYSTEM_FOLDER, *([f"{own}/spamnb"] if own else [])]
    paths = [f"{folder}/{name}" for folder in folders for name in FILES]
    return {path: stamp_of(path) for path in paths}
