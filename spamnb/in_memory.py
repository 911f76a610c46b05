"""Models whose counts are held in memory, to judge many messages by: no token becomes an object."""

from __future__ import annotations

from spamnb.bayes.verdict import Score
from spamnb.core.native import CountHash, CountLayer, FeatureScorer, MessageScorer, Scorer, gram_weights
from spamnb.errors import SpamnbError
from spamnb.store.records import PAIRS, WIDTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.core.native import FeatureSet
    from spamnb.model import Model
    from spamnb.store.records import Column
    from spamnb.store.stored_model import StoredModel

    # The counts of a model file in memory: of tokens and of pairs.
    HashTables = tuple[CountHash, CountHash]

MOST_COUNT_WIDTH = 4  # bytes of a count in a CountHash


def load_into_memory(model: Model) -> Model:
    """Read the counts of a model, and of its base, into memory."""
    return with_scorer(model, hash_tables)


def with_scorer(model: Model, tables_of: Callable[[StoredModel], HashTables | None]) -> Model:
    """Let a model score messages without their evidence, if its view allows for it.

    By the tables of its counts and those of its base; where there are none, by look-ups in the file.
    """
    columns = [stored.column(name) for stored in model.layers for name in ("tokens", "pairs")]
    if not model.classifier.is_mean_of_two or max(map(count_width, columns)) > MOST_COUNT_WIDTH:
        return model
    try:
        layers = [count_layer(stored, tables_of(stored)) for stored in model.layers]
        model.scorer = MemoryScorer(model, layers)
    except SpamnbError as error:
        model.lose_base(error)
        return with_scorer(model, tables_of)
    return model


def hash_tables(stored: StoredModel) -> HashTables:
    """Read the counts of a model file into memory."""
    return hash_table(stored.column("tokens")), hash_table(stored.column("pairs"))


def hash_table(column: Column) -> CountHash:
    return CountHash(len(column), column.read(), column.width, count_width(column))


def count_width(column: Column) -> int:
    return WIDTHS[column.kind[-1]]


def count_layer(stored: StoredModel, tables: HashTables | None) -> CountLayer:
    """Return the counts of a model file and its journal, in tables or on disk."""
    changes = (stored.journal.rows(), stored.journal.rows(kind=PAIRS)) if tables else ({}, {})
    return CountLayer(stored, tables, *changes)


class MemoryScorer:
    """Scores messages by views that are a mean of two labels, as the default one is; from any thread."""

    def __init__(self, model: Model, layers: list[CountLayer]) -> None:
        self.layers = layers
        self.labels = model.labels
        likelihood, grams = model.classifier, None
        likelihood.keep_logarithms()
        if likelihood.grams and layers[0].in_memory:
            grams = gram_weights(Scorer(likelihood.grams), model.counts.gram_layers())
        self.first = FeatureScorer(likelihood, model.counts, layers, grams)
        self.spare = [self.first]  # those that no thread uses
        self.settings = model.settings
        self.spare_readers: list[MessageScorer] = []

    def score(self, features: FeatureSet) -> Score:
        """Score a message as `Classifier.score` does, without the evidence."""
        try:
            scorer = self.spare.pop()
        except IndexError:
            scorer = self.first.another()
        joint, parts = scorer.score(features)
        self.spare.append(scorer)
        return Score(self.labels, joint, [], parts)

    def scores(self, messages: list[bytes]) -> list[Score]:
        """Read and score many messages at once."""
        try:
            scorer = self.spare_readers.pop()
        except IndexError:
            scorer = MessageScorer(self.settings, self.first)
        found = scorer.scores(messages)
        self.spare_readers.append(scorer)
        return [Score(self.labels, joint, [], parts) for joint, parts in found]
