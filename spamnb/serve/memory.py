"""For a process that stays: the counts of a model in memory, and what words say, remembered between messages.

Of a thousand messages of a corpus, after three thousand others, the median one is judged in 1.0 ms, where a
model opened to judge one message takes 2.1; and 25 MB are held where that would come to hold 50.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.classifier import Classifier, Evidence
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.model import Model
from spamnb.reading.fingerprint import MASK, PAIR_FACTOR, fingerprints, pair_fingerprints
from spamnb.store.records import KEY, LONG, Records
from spamnb.store.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from spamnb.bayes.view import View
    from spamnb.store.table import Pair, Row

    Said = tuple[Row, list[float]] | None  # counts and weights; None if they say nothing

MOST_HELD = 64 << 20  # bytes of counts; those of a larger model stay on disk
MOST_REMEMBERED = 50_000  # tokens: four in five of a message are among the last so many


class HeldRecords(Records):
    """Read once, as they are in the file: a look-up searches the bytes."""

    __slots__ = ("bytes", "kind", "starts")

    def __init__(self, records: Records) -> None:
        super().__init__(records.column, records.directory)
        self.bytes = self.column.whole()
        self.starts = memoryview(self.directory.whole()).cast("I")[::2]  # between them are the checksums
        self.kind: Any = self.column.kind[-1:]

    def rows(self, numbers: Iterable[int]) -> dict[int, Row]:
        asked = list(numbers)
        found = zip(asked, self.packed(asked), strict=True)
        return {number: self.row(packed) for number, packed in found if packed}

    def row(self, packed: bytes) -> Row:
        return tuple(memoryview(packed).cast(self.kind))

    def _key(self, place: int) -> int:
        at = place * self.column.width
        return int.from_bytes(self.bytes[at : at + KEY], "little")

    def packed(self, numbers: list[int]) -> list[bytes]:
        """The row of each as it is in the file; nothing for those that are not there."""
        find, starts, shift, width = self.bytes.find, self.starts, self.shift, self.column.width
        found = []
        try:
            for number in numbers:
                first, last = starts[number >> shift], starts[(number >> shift) + 1]
                if last - first > LONG:
                    first, last = self._narrowed(number, first, last)
                key, start, end = number.to_bytes(KEY, "little"), first * width, last * width
                at = find(key, start, end)
                while at > start and (at - start) % width:  # not where a record begins
                    at = find(key, at + 1, end)
                found.append(self.bytes[at + KEY : at + width] if at >= 0 else b"")
        except (IndexError, OverflowError) as error:
            raise ModelError(self.column.file.path, f"its directory is damaged; {WHAT_TO_DO}") from error
        return found


class Held(Stored):
    """The counts of a model file in memory, its journal as ever."""

    tokens: HeldRecords
    pairs: HeldRecords

    @property
    def fits(self) -> bool:
        return self._tokens.column.size + self._pairs.column.size <= MOST_HELD

    def hold(self, before: Stored | None = None) -> None:
        """Read them; but take them over from before, if since then only the journal has changed."""
        if isinstance(before, Held) and before.generation == self.generation:
            self.tokens, self.pairs = before.tokens, before.pairs
        else:
            self.tokens, self.pairs = HeldRecords(self._tokens), HeldRecords(self._pairs)
        self._tokens, self._pairs = self.tokens, self.pairs


class Remembering(Classifier):
    """Judges as any classifier does, by a view in which a token says the same in every message."""

    def __init__(self, counts: Held, view: View) -> None:
        super().__init__(counts, view)
        self.held = counts
        self._known: dict[str, tuple[int, Evidence | None]] = {}  # fingerprint (public), and what it says
        self._by_row: dict[bytes, Said] = {b"": None}  # most rows are like many others
        self._by_pair_row: dict[bytes, Said] = {b"": None}

    def evidence(self, tokens: Mapping[str, int], part_of: Callable[[str], int]) -> list[Evidence]:
        known = self._known
        new = [token for token in tokens if token not in known]
        if len(known) + len(new) > MOST_REMEMBERED:
            known = self._known = {}
            new = list(tokens)
        public = fingerprints(new)
        numbers = self.held.hidden(public)
        later = self.held.journal.rows(numbers)
        changed = _changed(later, self.held.token_rows) if later else {}
        said = self._said_of(self.held.tokens, numbers, self._by_row, changed)
        for token, number, what in zip(new, public, said, strict=True):
            known[token] = number, what and Evidence(token, what[0], 1, what[1], part_of(token))
        return [item for token in tokens if (item := known[token][1])]

    def pair_evidence(self, pairs: Iterable[Pair], part_of: Callable[[str], int]) -> list[Evidence]:
        names = list(pairs)
        numbers = self.held.hidden(self._pair_numbers(names))
        later = self.held.journal.pair_rows(numbers)
        changed = _changed(later, self.held.neighbour_rows) if later else {}
        said = self._said_of(self.held.pairs, numbers, self._by_pair_row, changed)
        return [
            Evidence(" ".join(pair), what[0], 1, what[1], part_of(pair[0]))
            for pair, what in zip(names, said, strict=True)
            if what
        ]

    def _pair_numbers(self, pairs: list[Pair]) -> list[int]:
        """Their public fingerprints, from those of tokens that were looked up just now."""
        known = self._known
        try:
            return [(known[a][0] * PAIR_FACTOR + known[b][0]) & MASK for a, b in pairs]
        except KeyError:
            return pair_fingerprints(pairs)

    def _said_of(
        self, records: HeldRecords, numbers: list[int], by_row: dict[bytes, Said], changed: Mapping[int, Row]
    ) -> list[Said]:
        """What the counts of each fingerprint say, by those in the file, or else those that changed since."""
        found = []
        for number, packed in zip(numbers, records.packed(numbers), strict=True):
            if number in changed:
                found.append(self._said_by(changed[number]))
                continue
            if packed not in by_row:
                by_row[packed] = self._said_by(records.row(packed))
            found.append(by_row[packed])
        return found

    def _said_by(self, row: Row) -> Said:
        weights = self.telling(row) if row else None
        return None if weights is None else (row, weights)


def _changed(later: Iterable[int], rows: Callable[[list[int]], Mapping[int, Row]]) -> Mapping[int, Row]:
    """The rows that the journal has a part in, also those of which nothing is left."""
    numbers = list(later)
    return {**dict.fromkeys(numbers, ()), **rows(numbers)}


def opened(path: str, before: Model | None = None) -> Model:
    """A model to be kept, in place of the one that was kept before."""
    stored = Held.open(path)
    model = Model(stored)
    steady = model.view.event == "binary" and not model.view.tfidf
    if isinstance(stored, Held) and stored.fits and steady:
        stored.hold(before.stored if before else None)
        model.classifier = Remembering(stored, model.view)
    return model
