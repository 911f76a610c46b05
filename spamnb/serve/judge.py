"""Judging by models that stay open in memory, and are reopened when their files change."""

from __future__ import annotations

import os
import pwd
from math import inf, isfinite
from time import monotonic, perf_counter
from typing import NamedTuple

from spamnb.bayes.verdict import Verdict
from spamnb.configuration.current import Configuration, load
from spamnb.delivery.commands import open_history
from spamnb.errors import InputOutputError, ModelError, SpamnbError
from spamnb.files import model_file
from spamnb.in_memory import load_into_memory
from spamnb.model import Model, base_of
from spamnb.reading.envelope import envelope_of
from spamnb.reading.features import Features
from spamnb.reading.message import Message, read
from spamnb.rights import ROOT, Rights, as_owner
from spamnb.serve.log import complain
from spamnb.serve.metrics import FALLBACK, Counters
from spamnb.serve.options import Options
from spamnb.serve.user_lists import UserLists
from spamnb.store.stored_model import StoredModel
from spamnb.user_models import UserModels, users_of

MOST_COUNT_BYTES = 64 << 20  # the counts of a larger model stay on disk


def open_in_memory(path: str, before: Model | None = None) -> Model:
    """Open a model to judge many messages by, in place of the one opened before."""
    model = Model.open(path)
    return load_into_memory(model, before) if model.stored.count_bytes <= MOST_COUNT_BYTES else model


Stamp = tuple[tuple[int, int, int] | None, ...]  # inode, time and size of model file and journal

MOST_OPEN_USER_MODELS = 64
MOST_USER_MODEL = 1 << 29  # bytes
MOST_USER_JOURNAL = 1 << 23  # bytes; from 2 MB on, who learns folds it at once
MOST_USER_PATTERNS = 1 << 18  # entries of a histogram, which some views read whole
LOOK_AGAIN = 1.0  # seconds until files of the configuration are looked at again


class Judged(NamedTuple):
    """A message that was judged; its features are good until the next one is."""

    verdict: Verdict
    features: Features
    message: Message
    model: str  # path


class Judge:
    """Judges the mail of a user by the user's model, where one can be judged by, else by the shared one."""

    def __init__(self, options: Options, counters: Counters) -> None:
        self.options = options
        self.shared = ReloadingModel(options.model)
        self.user_models = UserModels(options.user_models) if options.user_models else None
        self.user_lists = UserLists(self.user_models) if self.user_models else None
        self.counters = counters
        self.by_path: dict[str, ReloadingModel] = {}  # models of users, the least recently used first
        self.spare = Features()
        self._configure(load())
        self.looked_at = monotonic()  # when the files of the configuration were last looked at
        self.last_error = ""
        self.told: dict[str, str] = {}  # by user: why the model there is not judged by

    def classify(self, raw: bytes, user: str = "", with_evidence: bool = False) -> Judged:
        start = perf_counter()
        message = read(raw)
        own = self._by_own_model(message, user, with_evidence)
        judged = own or self._by(self.shared, message, with_evidence)
        self._decide_by_lists(judged, user)
        self.counters.judged(judged.verdict.label, perf_counter() - start)
        if self.history:
            self.history.append(raw, judged.verdict, judged.model, "serve", user)
        return judged

    def _by_own_model(self, message: Message, user: str, with_evidence: bool) -> Judged | None:
        """Judge a message by the user's own model; None if there is none, or if it cannot be judged by."""
        try:
            model = self._own_model(user)
            is_judge = model is not None and not self._is_begun(model)
            judged = self._by(model, message, with_evidence) if model and is_judge else None
            self.told.pop(user, None)
            return judged
        except SpamnbError as error:
            self.counters.count(FALLBACK)
            self._tell(user, f"{error} (judging by the shared model)")
            return None

    def _tell(self, user: str, why: str) -> None:
        if self.told.get(user) != why:
            self.told[user] = why
            complain(f"user {user}: {why}")

    def _decide_by_lists(self, judged: Judged, user: str) -> None:
        """Let lists of senders decide: the user's own before those of the configuration."""
        try:
            own = self.user_lists.of(user) if self.user_lists else None
        except SpamnbError as error:
            own = None
            self._tell(f"{user}, lists", f"{error} (going on without)")
        configured = self.current_configuration().senders
        for lists in (own, configured):  # without any, no envelope is needed: 0.04 ms
            if lists is not None and not judged.verdict.reason:
                lists.decide(judged.verdict, envelope_of(judged.message))

    def user_of(self, name: str) -> str:
        """Return whose mail this is, by a login name or a mail address: the first that has a model.

        One rule for all protocols. Who has none yet is known by the whole address, but for its extension.
        """
        names = users_of(name)
        own = names[min(1, len(names) - 1)]
        return next(filter(self.own_path, names), own) if self.user_models else name

    def own_path(self, user: str) -> str | None:
        """Path of a user's own model, also of one that judging will complain of; None if there is none."""
        try:
            return self.user_models.find(user) if self.user_models else None
        except SpamnbError:
            return self.user_models.path(user) if self.user_models else None

    def _is_begun(self, kept: ReloadingModel) -> bool:
        """Whether a model on top of the shared one has too little mail to judge by: all would be unsure."""
        model = kept.current()
        return model.base is not None and model.cutoffs is not None and not isfinite(model.cutoffs.spam)

    def _by(self, kept: ReloadingModel, message: Message, with_evidence: bool) -> Judged:
        model = kept.current()
        features = model.features(message, self.spare)
        try:
            verdict = model.classify_features(features) if with_evidence else model.verdict(features)
        except ModelError as error:
            kept.remember_failure(error)
            raise
        return Judged(verdict, features, message, model.stored.path)

    def header(self) -> tuple[str, str, str]:
        """Style and name of the header that a message gets, and the tag before the subject of spam."""
        current = self.current_configuration()
        style = self.options.header_style or current["header_style"]
        return style, current["header"], current["subject_tag"]

    def current_configuration(self) -> Configuration:
        """Return the configuration, read anew when its files have changed; if they are wrong, as it was."""
        now = monotonic()
        if now - self.looked_at >= LOOK_AGAIN:
            self.looked_at = now
            try:
                if not self.configuration.sources or not self.configuration.is_fresh:
                    before = self.configuration["model"]
                    self._configure(load())
                    self.last_error = ""
                    if before == self.options.model != self.configuration["model"]:
                        complain("another model is configured; restart the server to judge by it")
            except SpamnbError as error:
                if str(error) != self.last_error:
                    self.last_error = str(error)
                    complain(f"{error} (going on as configured before)")
        return self.configuration

    def _configure(self, configuration: Configuration) -> None:
        asked = self.options.history, self.options.history_days, self.options.history_size
        self.history = open_history(*asked, configuration)
        self.configuration = configuration

    def model_to_teach(self, user: str) -> str | None:
        """Path of the model that a user's lessons go to, which may have to be made; None if there is none."""
        if self.user_models is None:
            return self.shared.path
        if path := self.user_models.find(user):
            check_sizes(path, ReloadingModel(path, shared=False)._stamp())
            return path
        new = self.user_models.path(user) if self.options.create_user_models else None
        return new or (self.shared.path if self.options.teach_shared else None)

    def may_teach(self, peer: int | None, user: str, path: str) -> bool:
        """Whether a user id may teach the model of a path, which judges a user's mail.

        Root and the server's user may teach anyone's; others one that is theirs by its owner or its name;
        and whoever asks at a port, where no user id is known.
        """
        if peer in (None, 0, os.geteuid()) or (os.path.exists(path) and peer == os.stat(path).st_uid):
            return True
        return path != self.shared.path and user == login_name(peer)

    def owner(self, user: str) -> Rights:
        """Whose rights root takes to open a user's files."""
        return self.user_models.owner(user) if self.user_models else ROOT

    def reload(self) -> None:
        """Have the configuration read, and every model opened anew when it is next used."""
        self.looked_at = -inf
        self.by_path.clear()
        self.shared.stamp = self.shared.failed_stamp = None

    def _own_model(self, user: str) -> ReloadingModel | None:
        path = self.user_models.find(user) if self.user_models else None
        if path is None:
            return None
        model = self.by_path.pop(path, None) or ReloadingModel(path, False, self.shared, self.owner(user))
        self.by_path[path] = model
        if len(self.by_path) > MOST_OPEN_USER_MODELS:
            del self.by_path[next(iter(self.by_path))]
        return model


class ReloadingModel:
    """A model that is reopened when its file or its journal has changed; if that fails, it stays as it was.

    The shared model is held in memory, and may be a link, which may lead elsewhere some day. Models of users
    are many, and in folders where users may write: they are read from the disk, and are no links any more.
    """

    def __init__(
        self, path: str, shared: bool = True, beneath: ReloadingModel | None = None, owner: Rights = ROOT
    ) -> None:
        self.named_path = path
        self.owner = owner
        self.shared = shared
        self.beneath = beneath  # the model that it may stand on
        self.opened_on: Model | None = None  # what that was when this one was opened; None: no model
        self.stamp: Stamp | None = None
        self.last_error = ""
        self.failed_stamp: Stamp | None = None  # of files that could not be opened
        self.failure: ModelError | None = None
        self._model: Model | None = None

    @property
    def path(self) -> str:
        return model_file(self.named_path) if self.shared else self.named_path

    def current(self) -> Model:
        stamp = self._stamp()
        if self._model is None or stamp != self.stamp or self.failure or self._is_on_old_base():
            self._model = self._reopen(stamp)
        return self._model

    def current_base(self) -> Model | None:
        """Return the model for others to stand on; None, which is told once, if it cannot be opened."""
        try:
            return self.current()
        except SpamnbError as error:
            if str(error) != self.last_error:
                self.last_error = str(error)
                complain(f"{error} (users who have a model on top of it are judged without this base)")
            return None

    def _is_on_old_base(self) -> bool:
        return self._model is not None and self._base_for(self._model.stored) is not self.opened_on

    def _base_for(self, stored: StoredModel) -> Model | None:
        has_base = self.beneath is not None and stored.head.get("base")
        return self.beneath.current_base() if self.beneath and has_base else None

    def _reopen(self, stamp: Stamp) -> Model:
        try:
            if self.failure and self._stamp() == self.failed_stamp:
                raise self.failure
            self.failure = None
            model = self._open(stamp)
        except SpamnbError as error:
            if isinstance(error, ModelError):
                self.remember_failure(error)
            if self._model is None:
                raise
            if str(error) != self.last_error:
                self.last_error = str(error)
                complain(f"{error} (judging by the model as it was before)")
            return self._model
        self.stamp, self.last_error = stamp, ""
        return model

    def _open(self, stamp: Stamp) -> Model:
        if self.shared:
            return open_in_memory(self.path, self._model)
        check_sizes(self.path, stamp)
        with as_owner(self.owner):
            stored = StoredModel.open(self.path)
        if stamp[0] is None or stamp[0][0] != stored.file.inode:
            raise InputOutputError(f"{self.path}: changed while it was opened")  # it may be a link by now
        if len(stored.column("histogram.tokens")) > MOST_USER_PATTERNS:
            raise ModelError(self.path, "too large for a server: its histogram")
        beneath = self.opened_on = self._base_for(stored)
        with as_owner(self.owner):  # for the key
            return Model(stored, base=base_of(stored, beneath.stored) if beneath else None)

    def remember_failure(self, error: ModelError) -> None:
        """Remember why a model cannot be judged by: it is not opened again until one of its files changes."""
        self.failure, self.failed_stamp = error, self._stamp()

    def _stamp(self) -> Stamp:
        """Stamp that differs once the model file or its journal was replaced or has grown."""
        return self._file_stamp(self.path), self._file_stamp(self.path + ".journal")

    def _file_stamp(self, path: str) -> tuple[int, int, int] | None:
        try:
            status = os.stat(path, follow_symlinks=self.shared)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def check_sizes(path: str, stamp: Stamp) -> None:
    """Refuse a user's model that would take others' time and memory, before it is read."""
    for file, most, name in zip(stamp, (MOST_USER_MODEL, MOST_USER_JOURNAL), ("", ".journal"), strict=False):
        if file is not None and file[2] > most:
            raise ModelError(path + name, f"larger than the {most >> 20} MB that a server takes of a user")


def login_name(user: int) -> str | None:
    try:
        return pwd.getpwuid(user).pw_name
    except (KeyError, OverflowError):
        return None
