"""Open models, which are reopened when their files change."""

from __future__ import annotations

from abc import ABC, abstractmethod

from spamnb.errors import InputOutputError, ModelError, SpamnbError
from spamnb.files import model_file, stamp_of
from spamnb.in_memory import file_table, load_into_memory
from spamnb.model import Model, base_of, view_of
from spamnb.rights import ROOT, Rights, as_owner
from spamnb.serve.log import complain
from spamnb.store.stored_model import StoredModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.core.native import CountTable

Stamp = tuple[tuple[int, int, int] | None, ...]  # inode, time and size of model file and journal

MAX_ENTRY_BYTES = 128 << 20  # the counts of a larger model stay on disk
MAX_USER_MODEL = 1 << 29  # bytes
MAX_USER_JOURNAL = 1 << 23  # bytes; from 2 MB on, the process that learns folds it at once
MAX_USER_ENTRIES = 1 << 24  # bytes, for a view that reads all entries


class ReloadingModel(ABC):
    """A model, opened again when its file or journal has changed; if that fails, it is used as it was."""

    is_link = False  # whether its path may be a link

    def __init__(self, path: str) -> None:
        self.named_path = path
        self.stamp: Stamp | None = None
        self.last_error = ""
        self.failed_stamp: Stamp | None = None  # of files that could not be opened
        self.failure: ModelError | None = None
        self._model: Model | None = None

    @property
    def path(self) -> str:
        return model_file(self.named_path) if self.is_link else self.named_path

    def current(self) -> Model:
        stamp = self._stamp()
        if self._model is None or stamp != self.stamp or self.failure or self._is_on_old_base():
            self._model = self._reopen(stamp)
        return self._model

    def _is_on_old_base(self) -> bool:
        return False

    @abstractmethod
    def _open(self) -> Model: ...

    def _reopen(self, stamp: Stamp) -> Model:
        try:
            if self.failure and self._stamp() == self.failed_stamp:
                raise self.failure
            self.failure = None
            model = self._open()
        except SpamnbError as error:
            if isinstance(error, ModelError):
                self.remember_failure(error)
            if self._model is None:
                raise
            self._report(f"{error} (still judging with the model as it was)")
            return self._model
        self.stamp, self.last_error = stamp, ""
        return model

    def _report(self, why: str) -> None:
        if why != self.last_error:
            self.last_error = why
            complain(why)

    def remember_failure(self, error: ModelError) -> None:
        """Remember why a model is unusable, so that it is not opened again until one of its files changes."""
        self.failure, self.failed_stamp = error, self._stamp()

    def _stamp(self) -> Stamp:
        """Return a value that changes whenever the model file or its journal is replaced or grows."""
        path = self.path
        return stamp_of(path, self.is_link), stamp_of(path + ".journal", self.is_link)


class SharedModel(ReloadingModel):
    """The model that all users share; its counts are in memory, unless they are too large."""

    is_link = True

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.tables: dict[int, CountTable] = {}  # by the generation of a model file: its counts

    def current_base(self) -> Model | None:
        """Return this model as base of users' models; if it cannot be opened, report this and return None."""
        try:
            return self.current()
        except SpamnbError as error:
            self._report(f"{error} (users' models are used without this base)")
            return None

    def table_of(self, stored: StoredModel) -> CountTable | None:
        """Return the counts of a model file if they are in memory, else None."""
        return self.tables.get(stored.generation)

    def _open(self) -> Model:
        model = Model.open(self.path)
        is_new = model.stored.generation not in self.tables  # else another lesson is in its journal
        load_into_memory(model, self._read_table, for_many=is_new)
        used = [stored.generation for stored in (model.stored, model.base) if stored]
        self.tables = {generation: table for generation, table in self.tables.items() if generation in used}
        return model

    def _read_table(self, stored: StoredModel) -> CountTable | None:
        """Return the counts of a model file, read into memory if needed; None if they are too large."""
        if stored.generation not in self.tables and stored.columns["entries"].size <= MAX_ENTRY_BYTES:
            self.tables[stored.generation] = file_table(stored)
        return self.table_of(stored)


class UserModel(ReloadingModel):
    """The model of one user, with its counts on disk, in a folder where the user may write."""

    def __init__(self, path: str, shared: SharedModel, owner: Rights = ROOT) -> None:
        super().__init__(path)
        self.shared = shared  # the only base that it may have
        self.owner = owner
        self.opened_on: Model | None = None  # the shared model at the time this one was opened

    def _is_on_old_base(self) -> bool:
        return self._model is not None and self._base_for(self._model.stored) is not self.opened_on

    def _base_for(self, stored: StoredModel) -> Model | None:
        return self.shared.current_base() if stored.head.get("base") else None

    def _open(self) -> Model:
        stamp = self.check_sizes()
        with as_owner(self.owner):
            stored = StoredModel.open(self.path)
        if stamp[0] is None or stamp[0][0] != stored.file.inode:
            raise InputOutputError(f"{self.path}: was changed by another program meanwhile; try again")
        reads_all = view_of(stored).event == "bernoulli"
        if reads_all and stored.columns["entries"].size > MAX_USER_ENTRIES:
            raise ModelError(self.path, "is too large for a server, because it judges with event=bernoulli")
        beneath = self.opened_on = self._base_for(stored)
        model = Model(stored, base=base_of(stored, beneath.stored) if beneath else None)
        return load_into_memory(
            model, lambda of: None if of is stored else self.shared.table_of(of), for_many=False
        )

    def check_sizes(self) -> Stamp:
        """Return inode, time and size of model file and journal; raise ModelError if a file is too large."""
        stamp = self._stamp()
        for file, most, name in zip(stamp, (MAX_USER_MODEL, MAX_USER_JOURNAL), ("", ".journal"), strict=True):
            if file is not None and file[2] > most:
                why = f"larger than {most >> 20} MB, the limit for a user's model on a server"
                raise ModelError(self.path + name, why)
        return stamp
