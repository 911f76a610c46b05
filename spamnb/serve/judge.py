"""Judge messages with a user's own model and lists of senders, and decide which clients may change models."""

from __future__ import annotations

import os
import pwd
from math import inf
from time import monotonic, perf_counter
from typing import NamedTuple

from spamnb.bayes.verdict import Score, Verdict
from spamnb.configuration import Configuration, load
from spamnb.core.native import FeatureSet, Message, read
from spamnb.delivery.commands import open_history
from spamnb.errors import ModelError, SpamnbError
from spamnb.inspection.in_words import header_reasons
from spamnb.model import Model
from spamnb.reading.envelope import envelope_of
from spamnb.rights import ROOT, Rights, as_owner
from spamnb.serve.log import complain
from spamnb.serve.metrics import FALLBACK, Counters
from spamnb.serve.open_models import ReloadingModel, SharedModel, UserModel
from spamnb.serve.options import Options
from spamnb.serve.user_lists import UserLists
from spamnb.store.stored_model import StoredModel
from spamnb.user_models import UserModels, users_of

MAX_OPEN_USER_MODELS = 64
CHECK_INTERVAL = 1.0  # seconds between two checks whether configuration files have changed


class Judged(NamedTuple):
    """A judged message; its features are valid until the next message is judged."""

    verdict: Verdict
    features: FeatureSet
    message: Message
    model: Model
    score: Score | None  # None unless evidence was asked for

    @property
    def path(self) -> str:
        return self.model.stored.path


class Judge:
    """Judges mail with the recipient's own model if that is usable, else with the shared model."""

    def __init__(self, options: Options, counters: Counters) -> None:
        self.options = options
        self.shared = SharedModel(options.model)
        self.user_models = UserModels(options.user_models) if options.user_models else None
        self.user_lists = UserLists(self.user_models) if self.user_models else None
        self.counters = counters
        self.by_path: dict[str, UserModel] = {}  # models of users, the least recently used first
        self.reused = FeatureSet()
        self._configure(load())
        self.checked_at = monotonic()  # when the configuration files were last checked
        self.last_error = ""
        self.reported: dict[str, str] = {}  # by user: the last problem that was reported

    def classify(
        self, raw: bytes, user: str = "", with_evidence: bool = False, is_taken: bool = True
    ) -> Judged:
        """Judge a message; its sender counts as known only if the mail server accepted it (`is_taken`)."""
        start = perf_counter()
        message = read(raw)
        says_why = self.current_configuration()["reasons"]
        with_evidence = with_evidence or says_why
        own = self._by_own_model(message, user, with_evidence)
        judged = own or self._by(self.shared, self.shared.current(), message, with_evidence)
        self._decide_by_sender(judged, user, judged.model.stored if is_taken else None)
        if says_why and judged.score:
            about = judged.features, judged.score, judged.verdict
            judged.verdict.why = header_reasons(judged.model, message, *about)
        self.counters.judged(judged.verdict.label, perf_counter() - start)
        if self.history:
            self.history.append(raw, judged.verdict, judged.path, "serve", user)
        return judged

    def _by_own_model(self, message: Message, user: str, with_evidence: bool) -> Judged | None:
        """Judge a message with the user's own model; return None if the shared model must judge instead."""
        try:
            own, judged = self._own_model(user), None
            # A model with little mail leaves judging to its base, the shared model.
            if own and (model := own.current()).stored in model.layers:
                judged = self._by(own, model, message, with_evidence)
            self.reported.pop(user, None)
            return judged
        except SpamnbError as error:
            self.counters.count(FALLBACK)
            self._report(user, f"{error} (judging with the shared model)")
            return None

    def _report(self, user: str, why: str) -> None:
        if self.reported.get(user) != why:
            self.reported[user] = why
            complain(f"user {user}: {why}")

    def _decide_by_sender(self, judged: Judged, user: str, stored: StoredModel | None) -> None:
        """Change the verdict if the sender is in the user's or the configured lists, or is a known person."""
        try:
            own = self.user_lists.of(user) if self.user_lists else None
        except SpamnbError as error:
            own = None
            self._report(f"{user}, lists", f"{error} (continuing without these lists)")
        configuration, verdict = self.current_configuration(), judged.verdict
        if own is not None:
            own.decide(verdict, envelope_of(judged.message))
        if verdict.reason or not configuration.may_decide(verdict, stored):
            return  # saves 0.04 ms for the envelope
        try:
            with as_owner(self.owner(user) if judged.path != self.shared.path else ROOT):
                configuration.decide(verdict, envelope_of(judged.message), stored)
        except SpamnbError as error:
            self._report(f"{user}, people", f"{error} (continuing without known senders)")

    def user_of(self, name: str) -> str:
        """Return the user name for a login name or address: the first of `users_of(name)` that has a model.

        If none has a model yet, return the login name, or the address without +extension.
        """
        names = users_of(name)
        own = names[min(1, len(names) - 1)]
        return next(filter(self.own_path, names), own) if self.user_models else name

    def own_path(self, user: str) -> str | None:
        """Return the path of a user's own model, usable or not; None if the user has no model."""
        try:
            return self.user_models.find(user) if self.user_models else None
        except SpamnbError:
            return self.user_models.path(user) if self.user_models else None

    def _by(self, kept: ReloadingModel, model: Model, message: Message, with_evidence: bool) -> Judged:
        features = model.features(message, self.reused)
        try:
            score = model.score(features) if with_evidence else None
            verdict = model.decide(score) if score else model.verdict(features)
        except ModelError as error:
            kept.remember_failure(error)
            raise
        return Judged(verdict, features, message, model, score)

    def header(self) -> tuple[str, str, str]:
        """Return the style and name of the header to add, and the tag to put before the subject of spam."""
        current = self.current_configuration()
        return current["header_style"], current["header"], current["subject_tag"]

    def current_configuration(self) -> Configuration:
        """Return the configuration, read again if its files have changed; if reading fails, the old one."""
        now = monotonic()
        if now - self.checked_at >= CHECK_INTERVAL:
            self.checked_at = now
            try:
                if not self.configuration.is_fresh:
                    before = self.configuration["model"]
                    self._configure(load())
                    self.last_error = ""
                    if before == self.options.model != self.configuration["model"]:
                        complain("another model is configured; restart the server to use it")
            except SpamnbError as error:
                if str(error) != self.last_error:
                    self.last_error = str(error)
                    complain(f"{error} (keeping the configuration as it was)")
        return self.configuration

    def _configure(self, configuration: Configuration) -> None:
        self.history = open_history(self.options.history, configuration)
        self.configuration = configuration

    def learning_model(self, user: str) -> str | None:
        """Return the path of the model to learn a user's mail, even if missing; None for an invalid name."""
        if self.user_models is None:
            return self.shared.path
        if path := self.user_models.find(user):
            UserModel(path, self.shared).check_sizes()
            return path
        return self.user_models.path(user)

    def may_change_model(self, peer: int | None, user: str, path: str) -> bool:
        """Return whether the user id `peer` may change the model at `path`, which judges mail of `user`.

        Root, the server's own user and clients of a TCP port (`peer` None) may change every model. Others may
        change only a model file that they own, and the user model of their login name.
        """
        if peer in (None, 0, os.geteuid()) or (os.path.exists(path) and peer == os.stat(path).st_uid):
            return True
        return path != self.shared.path and user == login_name(peer)

    def owner(self, user: str) -> Rights:
        """Return the rights with which the server, if it runs as root, opens a user's files."""
        return self.user_models.owner(user) if self.user_models else ROOT

    def reload(self) -> None:
        """Make the server read the configuration and open models again when the next message needs them."""
        self.checked_at = -inf
        self.by_path.clear()
        self.shared.stamp = self.shared.failed_stamp = None

    def _own_model(self, user: str) -> UserModel | None:
        path = self.user_models.find(user) if self.user_models else None
        if path is None:
            return None
        model = self.by_path.pop(path, None) or UserModel(path, self.shared, self.owner(user))
        self.by_path[path] = model
        if len(self.by_path) > MAX_OPEN_USER_MODELS:
            del self.by_path[next(iter(self.by_path))]
        return model


def login_name(user: int) -> str | None:
    try:
        return pwd.getpwuid(user).pw_name
    except (KeyError, OverflowError):
        return None
