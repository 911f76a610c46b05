"""Merge models, such as those of several hosts: add up their counts in one pass over all files.

A message that several models learned is counted once for each of these models, since no model stores the
counts of single messages. `MergedMessages` has the number of such messages.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spamnb.core.native import NOT_LEARNED, LearnedMessages
from spamnb.errors import CannotCreate, DataError, NoInput, NoModel, UsageError
from spamnb.files import model_file
from spamnb.labels import MAX_LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of
from spamnb.store.merging import Source
from spamnb.store.stored_model import StoredModel, load_learned
from spamnb.training.plan import About, open_if_readable, open_if_there
from spamnb.training.writing import add_up, indices_of, kept_labels, put_in_place


@dataclass(frozen=True)
class MergedMessages:
    """How many messages a merged model has learned, and how many of them several inputs had learned."""

    messages: int  # different messages; each has its label in the first model that learned it
    shared: int  # messages that several models learned, added once for each


def merge(out: str, paths: Sequence[str], *, fresh: bool = False) -> MergedMessages:
    """Add up the models at `paths`, and write the sum to `out`, which may be one of `paths`."""
    out = model_file(out)
    with Lock(out, kind=TRAINING):
        before = open_if_readable(out) if fresh else open_if_there(out)
        # An output that is also an input is opened once, so that messages learned meanwhile are added once.
        models = [before if before and same_file(path, out) else open_model(path) for path in paths]
        is_input = any(model is before for model in models)
        if before and not fresh and not is_input:
            raise CannotCreate(
                f"{out}: already exists; to replace it, use --fresh; to add to it, name it as an input, too"
            )
        check_alike(models)
        labels = list(dict.fromkeys(label for model in models for label in model.labels))
        if len(labels) > MAX_LABELS:
            raise DataError(f"{len(labels)} labels in all are too many; a model has at most {MAX_LABELS}")
        united, shared = LearnedMessages(), LearnedMessages()
        for model in models:
            indices = indices_of(model.labels, labels)
            for message_hash, label, score, lead in load_learned(model).messages():
                if united.label_index(message_hash) == NOT_LEARNED:
                    united.set(message_hash, indices[label], score, lead)
                else:  # the label of the first model holds
                    shared.set(message_hash, indices[label])
        sources = [Source(model) for model in models]
        kept = kept_labels(labels, sources)
        total = add_up(out, labels, kept, sources)
        about = replace(About.of(before if before and is_input else models[0]), base=None)
        result = MergedMessages(len(united), len(shared))
        united.relabel(indices_of(labels, kept))
        put_in_place(out, total, united, about, before)
    return result


def same_file(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def open_model(path: str) -> StoredModel:
    try:
        return StoredModel.open(model_file(path))
    except NoModel as error:
        raise NoInput(f"{path}: there is no such model; name an existing one") from error


def check_alike(models: Sequence[StoredModel]) -> None:
    """Raise an error if two models are the same file, or were made with different settings."""
    first = models[0]
    settings, view = settings_of(first).as_map(), view_of(first).as_map()
    files: set[str] = set()
    for model in models:
        file = os.path.realpath(model.path)
        if file in files:
            raise UsageError(f"{model.path}: this model is named twice; name each model once")
        files.add(file)
        different = [name for name, value in settings_of(model).as_map().items() if value != settings[name]]
        different += ["view"] if view_of(model).as_map() != view else []
        if different:
            raise DataError(
                f"{model.path}: was made with other settings than {first.path} ({', '.join(different)}); "
                "to merge the two models, train one of them again with the settings of the other"
            )
