"""A model on disk: its file, searched without loading it, and its journal (format: docs/model-file.md)."""

import os

from spamnb.core.native import NOT_LEARNED, CountSum, FileCounts, LearnedMessages, index_of
from spamnb.errors import WHAT_TO_DO, ModelError, NoInput, NoModel, command_to_run
from spamnb.files import counted
from spamnb.store.model_file import File, locate_columns, read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from spamnb.core.native import Counts, Entries
    from spamnb.store.journal import Journal

LABEL_AT = 8  # after the hash: of the label in "learned", of the checksum in "learned_index"
LEARNED_BLOCK = 1024  # such records with one checksum: to look up a message, 17 KB are read


class StoredModel:
    """The counts of a model file and its journal."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = open_file(path)
        self.head, start = read_head(self.file)
        self.labels: list[str] = list(self.head["labels"])
        self.generation: int = self.head["generation"]
        self.messages: list[int] = list(self.head["messages"])
        self.presences: list[int] = list(self.head["presences"])
        self.occurrences: list[int] = list(self.head["occurrences"])
        self.vocabulary: int = self.head["vocabulary"]
        self.pair_presences: list[int] = list(self.head["pair_presences"])
        self.pair_vocabulary: int = self.head["pair_vocabulary"]
        try:
            self.columns = locate_columns(self.file, self.head, start)
            names = "entries", "index", "grams", "gram_counters"
            entries, index, grams, counters = [self.columns[name] for name in names]
            self.file_counts = FileCounts(entries, index, len(self.labels), grams, counters)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(path, f"the beginning of the file is damaged; {WHAT_TO_DO}") from error
        self.lost_lessons = 0  # records of another model file that this one lacks
        self._learned_index: bytes | None = None  # the column, once it was read
        self._journal: Journal | None = None
        if _has_journal(path):
            self._read_journal()

    @classmethod
    def open(cls, path: str) -> "Self":
        """Open a model and its journal so that they fit together, even if another process replaces them."""
        while True:
            stored = cls(path)
            try:
                if os.stat(path).st_ino == stored.file.inode:
                    return stored
            except OSError:
                return stored  # removed meanwhile: what was opened stays complete

    @property
    def journal(self) -> "Journal":
        if self._journal is None:
            from spamnb.store.journal import Journal  # late: most often there is none

            self._journal = Journal(self.labels)
        return self._journal

    @property
    def counts(self) -> "Counts":
        """All counts, those of the journal included."""
        if self._journal and self._journal.records:
            return CountSum(self.file_counts, self._journal.counts)
        return self.file_counts

    def entries(self) -> "Iterator[Entries]":
        """Return an iterator over all words and pairs in order of fingerprints, the journal's included."""
        from spamnb.core.native import Merger

        labels = list(range(len(self.labels)))
        return iter(Merger(len(labels), [(self.file_counts, 1, labels), (self.journal.table, 1, labels)]))

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Return {(messages of each label): how many words are in so many messages}; this reads all words."""
        from collections import Counter

        many = len(self.labels)
        found: Counter[tuple[int, ...]] = Counter()
        for entries in self.entries():
            counts = memoryview(entries.counts).cast("B").cast("q")
            rows = zip(*[counts[k :: 2 * many] for k in range(2 * many)], strict=True)
            found.update(row[:many] for row in rows if any(row[many:]))  # a pair has no occurrences
        return dict(found)

    @property
    def is_imported(self) -> bool:
        """Whether the counts come from another filter, so that nothing says which messages were learned."""
        return not (self.columns["learned"].size or (self._journal and self._journal.learned))

    @property
    def numbers(self) -> dict[str, list[list[int]]]:
        """By name of a numeric feature: n, Σx and Σx² of its values for each label, including the journal."""
        sums = {name: [list(each) for each in by_label] for name, by_label in self.head["numbers"].items()}
        for record in self._journal.records if self._journal else ():
            for name, x in record.numbers.items():
                by_label = sums.setdefault(name, [[0, 0, 0] for _ in self.labels])
                for label_index, sign in record.steps:
                    n, total, squares = by_label[label_index]
                    by_label[label_index] = [max(n + sign, 0), total + sign * x, squares + sign * x * x]
        return sums

    def label_of(self, message_hash: int) -> str | None:
        """Return the label under which the message with this hash was learned; None if it was not learned."""
        if self._journal and message_hash in self._journal.learned:
            return self._journal.learned[message_hash]
        if self._learned_index is None:
            self._learned_index = self.columns["learned_index"].read()
        column, width = self.columns["learned"], self.columns["learned_index"].width
        number = index_of(self._learned_index, message_hash, width)
        number = max(number, -2 - number)  # of the last block that begins with no higher message_hash
        if number < 0:
            return None
        checksum = self._learned_index[number * width + LABEL_AT : (number + 1) * width]
        block = column.read_block(number * LEARNED_BLOCK, LEARNED_BLOCK, checksum)
        at = index_of(block, message_hash, column.width)
        if at < 0:
            return None
        label_index = block[at * column.width + LABEL_AT]
        if label_index >= len(self.labels):
            raise ModelError(self.path, f"its list of learned messages is damaged; {WHAT_TO_DO}")
        return self.labels[label_index]

    def _read_journal(self) -> None:
        from spamnb.store.journal import Journal, read_bytes

        journal = self._journal = Journal(self.labels, self.generation, read_bytes(f"{self.path}.journal"))
        if journal.damaged:
            self._mend_journal(journal)
        if journal.foreign:
            self._find_lost_lessons(journal)
        self._add_totals(journal)

    def _mend_journal(self, journal: "Journal") -> None:
        """Correct the journal after the loss of damaged records, and count its new words and pairs again."""
        from spamnb.store.journal import warn

        warn(f"{self.path}.journal", journal.damaged)
        journal.mend(self.label_of)
        self.vocabulary += self._growth([record.words for record in journal.records])
        self.pair_vocabulary += self._growth([record.pairs for record in journal.records])

    def _growth(self, changed: "list[bytes]") -> int:
        """Return how many of these fingerprints are in the journal's counts but not in the file's."""
        keys = set(memoryview(b"".join(changed)).cast("Q"))
        return len(self.counts.lookup(keys)) - len(self.file_counts.lookup(keys))

    def _find_lost_lessons(self, journal: "Journal") -> None:
        """Warn of records that belong to another model file, unless this file already has their changes."""
        from spamnb.store.journal import WRONG_FIELDS, JournalRecord, warn_once

        for fields in journal.foreign:
            try:
                record = JournalRecord(fields, self.labels)
                self.lost_lessons += self.label_of(record.digest) != record.after
            except WRONG_FIELDS:
                self.lost_lessons += 1
        if self.lost_lessons:
            entries = counted(self.lost_lessons, "entry that belongs", "entries that belong")
            what_to_do = "restore that file, or remove the journal"
            warn_once(f"{self.path}.journal", f"ignoring {entries} to another model file; {what_to_do}")

    def _add_totals(self, journal: "Journal") -> None:
        """Add what the journal's records change to the totals that the head has; no total falls below 0."""
        for record in journal.records:
            self.vocabulary = max(self.vocabulary + record.new_tokens, 0)
            self.pair_vocabulary = max(self.pair_vocabulary + record.new_pairs, 0)
            for label_index, sign in record.steps:
                for totals, size in (
                    (self.messages, 1),
                    (self.presences, record.word_count),
                    (self.occurrences, record.length),
                    (self.pair_presences, record.pair_count),
                ):
                    totals[label_index] = max(totals[label_index] + sign * size, 0)


def load_learned(stored: StoredModel) -> LearnedMessages:
    """Return the messages that a model has learned, from its file and its journal."""
    learned, column = LearnedMessages(), stored.columns["learned"]
    stored.columns["learned_index"].verify()
    if not learned.add_records(column.read(), len(stored.labels)):
        raise column.damaged()
    for record in stored.journal.records:
        label_index = NOT_LEARNED if record.after is None else stored.labels.index(record.after)
        learned.set(record.digest, label_index, record.score, record.lead)
    return learned


def labels_of(path: str) -> "Sequence[str]":
    """Return the labels of a model; only the head of its file is read."""
    labels: Sequence[str] = read_head(open_file(path))[0]["labels"]
    return labels


def _has_journal(path: str) -> bool:
    """Return whether a model has a journal that is not empty."""
    try:
        return os.lstat(path + ".journal").st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True  # whoever reads it will say why that fails


def open_file(path: str) -> File:
    """Open a model file; if that is impossible, the error says what to do."""
    try:
        file = File(path)
    except FileNotFoundError:
        make_one = command_to_run("train", "--model", path, "HAM", "SPAM")
        raise NoModel(f"{path}: no model yet; make one: {make_one}") from None
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    if not file.size:
        raise ModelError(path, f"the file is empty; {WHAT_TO_DO}")
    return file
