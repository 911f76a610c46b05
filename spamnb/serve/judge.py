"""Judging with models that are kept open and follow their files."""

from __future__ import annotations

import os
import stat
import string
from time import perf_counter
from typing import TYPE_CHECKING

from spamnb.errors import ModelError, SpamnbError
from spamnb.files import complain
from spamnb.model import Model
from spamnb.serve.memory import opened

if TYPE_CHECKING:
    from spamnb.serve.metrics import Counters
    from spamnb.tokens.features import Features
    from spamnb.verdict import Verdict

    Stamp = tuple[tuple[int, int, int] | None, ...]

MOST_KEPT = 64  # models of users that are open at a time
NAME = "model.msgpack"
IN_A_NAME = frozenset(string.ascii_letters + string.digits + "._@+-=")
LONGEST_NAME = 128


class Judge:
    """Judges each user's mail by the model of theirs, where there is one, else by the shared one."""

    def __init__(self, shared: str, user_models: str | None, counters: Counters) -> None:
        self.shared = Kept(shared)
        self.user_models = user_models
        self.counters = counters
        self.own: dict[str, Kept] = {}  # the longest unused first

    def classify(self, raw: bytes, user: str = "") -> tuple[Verdict, Features]:
        start = perf_counter()
        model = self._kept(user).model()
        features = model.features(raw)
        verdict = model.classify_features(features)
        self.counters.judged(verdict.label, perf_counter() - start)
        return verdict, features

    def path(self, user: str) -> str:
        """The model file that a user's mail is judged by, and learned with."""
        return own_model(self.user_models, user) or self.shared.path

    def reload(self) -> None:
        """Open every model anew, when it is next asked for."""
        self.own.clear()
        self.shared.stamp = None

    def _kept(self, user: str) -> Kept:
        path = own_model(self.user_models, user)
        if path is None:
            return self.shared
        kept = self.own.pop(path, None) or Kept(path, shared=False)
        self.own[path] = kept
        if len(self.own) > MOST_KEPT:
            del self.own[next(iter(self.own))]
        return kept


class Kept:
    """A model, opened anew when its file or its journal has changed; the last sound one if that fails.

    The shared one is held in memory, and may be a link to its file. Users' own are many, and are in folders
    where users may write: they are read from the disk, and must not be links.
    """

    def __init__(self, path: str, shared: bool = True) -> None:
        self.path = path
        self.shared = shared
        self.stamp: Stamp | None = None
        self.complaint = ""
        self._model: Model | None = None

    def model(self) -> Model:
        stamp = self._stamp()
        if self._model is None or stamp != self.stamp:
            self._model = self._refreshed(stamp)
        return self._model

    def _refreshed(self, stamp: Stamp) -> Model:
        try:
            model = self._opened(stamp)
        except SpamnbError as error:
            if self._model is None:
                raise
            if str(error) != self.complaint:
                self.complaint = str(error)
                complain(f"{error} (judging by the model as it was before)")
            return self._model
        self.stamp, self.complaint = stamp, ""
        return model

    def _opened(self, stamp: Stamp) -> Model:
        if self.shared:
            return opened(self.path, self._model)
        model = Model.open(self.path)
        if stamp[0] is None or stamp[0][0] != model.stored.file.inode:
            raise ModelError(self.path, "changed while it was opened")  # it may be a link by now
        return model

    def _stamp(self) -> Stamp:
        """What tells a file from the one that takes its place, or from itself when it has grown."""
        return self._file_stamp(self.path), self._file_stamp(self.path + ".journal")

    def _file_stamp(self, path: str) -> tuple[int, int, int] | None:
        try:
            status = os.stat(path, follow_symlinks=self.shared)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def own_model(folder: str | None, user: str) -> str | None:
    """The model of a user's own: FOLDER/USER/model.msgpack, if it is there and no link leads elsewhere."""
    if folder is None or not is_a_name(user):
        return None
    home = os.path.join(folder, user)
    path = os.path.join(home, NAME)
    try:
        if stat.S_ISDIR(os.lstat(home).st_mode) and stat.S_ISREG(os.lstat(path).st_mode):
            return path
    except OSError:
        pass
    return None


def is_a_name(user: str) -> bool:
    """Whether a user can name a folder: nothing that leads out of it, and no hidden file."""
    return 0 < len(user) <= LONGEST_NAME and user[0] not in ".-" and IN_A_NAME.issuperset(user)
