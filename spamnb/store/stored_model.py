"""A model on disk: its file, searched in place, and its journal. docs/model-file.md describes the format."""

import os

from spamnb.core.native import COUNTERS, CountRecords, counts_of_grams, index_of, rows_of, spread
from spamnb.errors import WHAT_TO_DO, ModelError, NoInput, NoModel, command_to_run
from spamnb.files import counted
from spamnb.store.head import locate_columns, read_head
from spamnb.store.records import GRAMS, KEY_BYTES, PAIRS, TOKENS, Column, File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from spamnb.core.native import Changes
    from spamnb.store.counts import GramCounts, GramLayer, Row
    from spamnb.store.journal import Journal

# Columns of the same length, with their types: * is any of WHOLE. Those of each label come to these.
TOKEN_COLUMNS = {"ends": "*", "days": "H", "first_days": "H"}
PAIR_COLUMNS = {"pair_days": "H"}
DIGEST_COLUMNS = {"digests": "Q", "digest_labels": "B", "digest_scores": "f"}
WHOLE = "BHIQ"


class StoredModel:
    """The counts of a model file and its journal."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = open_file(path)
        self.head, start = read_head(self.file)
        try:
            self.columns = locate_columns(self.file, self.head, start)
            self._check_columns()
            self.labels: list[str] = list(self.head["labels"])
            self.generation: int = self.head["generation"]
            self.messages: list[int] = list(self.head["messages"])
            self.presences: list[int] = list(self.head["presences"])
            self.occurrences: list[int] = list(self.head["occurrences"])
            self.vocabulary: int = self.head["vocabulary"]
            self.pair_presences: list[int] = list(self.head["pair_presences"])
            self.pair_vocabulary: int = self.head["pair_vocabulary"]
            self.numbers: dict[str, list[list[int | float]]] = {
                name: [list(sums) for sums in by_label] for name, by_label in self.head["numbers"].items()
            }
            self.tokens = CountRecords(self.column("tokens"), self.column("starts"))
            self.pairs = CountRecords(self.column("pairs"), self.column("pair_starts"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}") from error
        self._learned: tuple[bytes, bytes] | None = None  # digests and their label indices
        self._grams: bytes | None = None  # all counts of grams, once they were asked for twice
        self._has_read_grams = False
        self.lost_lessons = 0  # in a journal that belongs to another model file
        self._journal: Journal | None = None
        if _has_journal(path):
            from spamnb.store import journal  # late: most often there is none

            self._journal = journal.Journal.read(path + ".journal", self.generation, self.labels)
            if self._journal.damaged:
                self._mend_journal()
            if self._journal.foreign:
                self._tell_lost_lessons()
            self._add_journal_totals()

    @classmethod
    def open(cls, path: str) -> "Self":
        """Open a model and its journal, in agreement even while another process folds one into the other."""
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
            from spamnb.store.journal import Journal

            self._journal = Journal(self.labels)
        return self._journal

    def column(self, name: str) -> Column:
        return self.columns[name]

    @property
    def is_imported(self) -> bool:
        """Whether the counts are another filter's: which messages they are of is not known."""
        return not (len(self.column("digests")) or (self._journal and self._journal.learned))

    @property
    def count_bytes(self) -> int:
        return self.column("tokens").size + self.column("pairs").size

    def rows(self, fingerprints: "Sequence[int]") -> "dict[int, Row]":
        """Return the counts of those tokens that are known, the journal's included."""
        return rows_of(self.tokens, self.changes(TOKENS), fingerprints)

    def pair_rows(self, fingerprints: "Sequence[int]") -> "dict[int, Row]":
        """Return the counts of those pairs of neighbours that are known, the journal's included."""
        return rows_of(self.pairs, self.changes(PAIRS), fingerprints)

    def changes(self, kind: str) -> "Changes | None":
        """Return what the journal changes in the counts of a kind, if it does."""
        return self._journal.changes(kind) if self._journal else None

    def gram_rows(self, counters: "Sequence[int]") -> "dict[int, Row]":
        """Return the counts of those grams that some message has, the journal's included."""
        self.gram_data()
        counters = list(dict.fromkeys(counters))
        counts = memoryview(self.counts_of_grams(counters)).cast("Q").tolist()
        label_count = len(self.labels)
        rows = [tuple(counts[at : at + label_count]) for at in range(0, len(counts), label_count)]
        return {counter: row for counter, row in zip(counters, rows, strict=True) if any(row)}

    def gram_changes(self) -> dict[int, list[int]]:
        """Return what the journal adds to the counts of grams."""
        return self._journal.rows(GRAMS) if self._journal else {}

    def gram_layers(self) -> "list[GramLayer]":
        """Return the counts of all grams, and what the journal adds to some."""
        return [(self.gram_data(), self.gram_changes())]

    def counts_of_grams(self, counters: "Sequence[int]") -> "GramCounts":
        """Return the counts of a message's grams, given by their counters, each once; the journal's included.

        All are read, for a message has some in every page of the file, and are kept if another one follows.
        """
        column = self.columns.get("grams")
        if column and self._grams is None and not self._has_read_grams:
            self._has_read_grams = True
            source: Column | bytes = column
            with_counts = self.columns["gram_counters"].read()
        else:
            source, with_counts = self.gram_data(), b""
        width = column.width if column else 1
        return counts_of_grams(source, with_counts, self.changes(GRAMS), counters, len(self.labels), width)

    def gram_data(self) -> bytes:
        """Read the counts of all grams, once, and verify them; b"" if the model has none."""
        if self._grams is None:
            self._grams = b""
            if "grams" in self.columns:
                counts, counters = self.columns["grams"], self.columns["gram_counters"].read()
                self._grams = counts.read()
                if counters:
                    self._grams = spread(counters, self._grams, len(self.labels) * counts.width, COUNTERS)
        return self._grams

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Return how many tokens share the same messages per label, the journal's changes made."""
        label_indices = range(len(self.labels))
        names = [*(f"histogram.{k}" for k in label_indices), "histogram.tokens"]
        *counts, tokens = [self.column(name).values() for name in names]
        tokens_by_counts: dict[tuple[int, ...], int] = dict(
            zip(zip(*counts, strict=True), tokens, strict=True)
        )
        later = self.journal.rows()
        known = self.tokens.rows(list(later))
        for fingerprint, more in later.items():
            row = known.get(fingerprint, (0,) * len(label_indices))
            before = tuple([row[k] for k in label_indices])
            after = tuple([row[k] + more[k] for k in label_indices])
            if any(before):
                if before not in tokens_by_counts:
                    raise ModelError(self.path, f"its histogram is damaged; {WHAT_TO_DO}")
                tokens_by_counts[before] -= 1
            if any(after):
                tokens_by_counts[after] = tokens_by_counts.get(after, 0) + 1
        return {counts: tokens for counts, tokens in tokens_by_counts.items() if tokens}

    def label_of(self, digest: int) -> str | None:
        """Return the label a message was learned under, if it was; to verify 250,000 digests takes 1.3 ms."""
        if self._journal and digest in self._journal.learned:
            return self._journal.learned[digest]
        if self._learned is None:
            self._learned = self.column("digests").read(), self.column("digest_labels").read()
        digests, label_indices = self._learned
        at = index_of(digests, digest, KEY_BYTES)
        if at < 0:
            return None
        label_index = label_indices[at]
        if label_index >= len(self.labels):
            raise ModelError(self.path, f"its labels are damaged; {WHAT_TO_DO}")
        return self.labels[label_index]

    def _check_columns(self) -> None:
        """Raise an error if columns are missing, or are not of the type and length that they should have."""
        columns, label_count = self.columns, len(self.head["labels"])
        tokens, pairs = columns["tokens"], columns["pairs"]
        histograms = dict.fromkeys([*[f"histogram.{k}" for k in range(label_count)], "histogram.tokens"], "*")
        fits = tokens.kind == "Q" + 2 * label_count * tokens.kind[-1] and tokens.kind[-1] in WHOLE
        fits = fits and pairs.kind == "Q" + label_count * pairs.kind[-1] and pairs.kind[-1] in WHOLE
        fits = fits and columns["text"].kind == "B"
        if "grams" in columns:
            grams, counters = columns["grams"], columns["gram_counters"]
            fits = fits and grams.kind in WHOLE and counters.kind == "I"
            rows = [len(counters)] if len(counters) else [0, COUNTERS]
            fits = fits and len(grams) in [label_count * count for count in rows]
        leads = {"digest_leads": "f"} if "digest_leads" in columns else {}
        for length, kinds in (
            (len(tokens), TOKEN_COLUMNS),
            (len(pairs), PAIR_COLUMNS),
            (len(columns["digests"]), {**DIGEST_COLUMNS, **leads}),
            (len(columns["histogram.tokens"]), histograms),
        ):
            for name, kind in kinds.items():
                found = columns[name]
                fits = (
                    fits
                    and len(found) == length
                    and (found.kind == kind or (kind == "*" and found.kind in WHOLE))
                )
        if not fits:
            raise ValueError("not the columns of a model")

    def _mend_journal(self) -> None:
        """Adapt sound records to the loss of damaged ones: subtract nothing these added, count anew."""
        from spamnb.store.journal import warn

        journal = self.journal
        warn(f"{self.path}.journal", journal.damaged)
        journal.learned = {}
        for record in journal.records:
            record.move_from(self.label_of(record.digest), self.labels)
            record.new_tokens = record.new_pairs = 0
            journal.learned[record.digest] = record.after
        tokens = list({token for record in journal.records for token in record.fingerprints})
        pairs = list({pair for record in journal.records for pair in record.pairs})
        self.vocabulary += len(self.rows(tokens)) - len(self.tokens.rows(tokens))
        self.pair_vocabulary += len(self.pair_rows(pairs)) - len(self.pairs.rows(pairs))

    def _tell_lost_lessons(self) -> None:
        """Tell of a journal with lessons for another model file; those of a stale one are in this, too."""
        from spamnb.store.journal import JournalRecord, warn_once

        for fields in self.journal.foreign:
            try:
                record = JournalRecord(fields, self.labels)
                self.lost_lessons += self.label_of(record.digest) != record.after
            except (KeyError, TypeError, ValueError, AttributeError):
                self.lost_lessons += 1
        if self.lost_lessons:
            lessons = counted(self.lost_lessons, "lesson")
            what_to_do = "restore the file that they belong to, or remove the journal"
            warn_once(f"{self.path}.journal", f"{lessons} for another model file, not counted; {what_to_do}")

    def _add_journal_totals(self) -> None:
        for record in self.journal.records:
            self.vocabulary += record.new_tokens
            self.pair_vocabulary += record.new_pairs
            for label_index, sign in record.steps:
                self.messages[label_index] += sign
                self.presences[label_index] += sign * len(record.fingerprints)
                self.pair_presences[label_index] += sign * len(record.pairs)
                self.occurrences[label_index] += sign * record.length
            record.add_numbers_to(self.numbers)
        for totals in (self.messages, self.presences, self.occurrences, self.pair_presences):
            totals[:] = [max(total, 0) for total in totals]  # forgotten twice: no harm
        self.vocabulary, self.pair_vocabulary = max(self.vocabulary, 0), max(self.pair_vocabulary, 0)
        for by_label in self.numbers.values():
            for sums in by_label:
                sums[0] = max(sums[0], 0)


def labels_of(path: str) -> "Sequence[str]":
    """Return the labels of a model; no more than the head of its file is read."""
    labels: Sequence[str] = read_head(open_file(path))[0]["labels"]
    return labels


def _has_journal(path: str) -> bool:
    """Tell whether there is more than an empty journal."""
    try:
        return os.lstat(path + ".journal").st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True  # who reads it will tell why that fails


def open_file(path: str) -> File:
    """Open a model file; one that is missing, closed or empty is an error that says what to do."""
    try:
        file = File(path)
    except FileNotFoundError:
        make_one = command_to_run("train", "--model", path, "HAM", "SPAM")
        raise NoModel(f"{path}: no model yet; make one with: {make_one}") from None
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    if not file.size:
        raise ModelError(path, f"the file is empty; {WHAT_TO_DO}")
    return file
