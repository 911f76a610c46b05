"""For a process that stays: the counts of a model in memory, and what tokens say remembered.

Of a thousand messages of a corpus, after three thousand others, the median one is judged in 1.0 ms, where a
model opened to judge one message takes 2.1; and 25 MB are held where that would come to hold 50.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from spamnb.bayes.classifier import Classifier, Evidence
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.model import Model
from spamnb.reading.fingerprint import MOST_REMEMBERED
from spamnb.store.records import KEY, LONG, Records
from spamnb.store.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.classifier import Evidence
    from spamnb.bayes.view import View
    from spamnb.store.counts import Row, Token

MOST_HELD = 64 << 20  # bytes of counts; those of a larger model stay on disk


class HeldRecords(Records):
    """Read once, as they are in the file: a look-up searches the bytes."""

    __slots__ = ("bytes", "distinct", "starts")

    def __init__(self, records: Records) -> None:
        super().__init__(records.column, records.directory)
        self.bytes = self.column.whole()
        self.starts = memoryview(self.directory.whole()).cast("I")[::2]  # between them are the checksums
        self.distinct: dict[bytes, Row] = {}  # most rows are like many others

    def _key(self, place: int) -> int:
        at = place * self.column.width
        return int.from_bytes(self.bytes[at : at + KEY], "little")

    def rows(self, numbers: Iterable[int]) -> dict[int, Row]:
        data, starts, shift, width = self.bytes, self.starts, self.shift, self.column.width
        find, kind = data.find, cast("Any", self.column.kind[-1:])
        distinct, found = self.distinct, {}
        try:
            for number in numbers:
                first, last = starts[number >> shift], starts[(number >> shift) + 1]
                if last - first > LONG:
                    first, last = self._narrowed(number, first, last)
                key, start, end = number.to_bytes(KEY, "little"), first * width, last * width
                at = find(key, start, end)
                while at > start and (at - start) % width:  # not where a record begins
                    at = find(key, at + 1, end)
                if at >= 0:
                    packed = data[at + KEY : at + width]
                    row = distinct.get(packed)
                    if row is None:
                        row = distinct[packed] = tuple(memoryview(packed).cast(kind))
                    found[number] = row
        except (IndexError, OverflowError) as error:
            raise ModelError(self.column.file.path, f"its directory is damaged; {WHAT_TO_DO}") from error
        return found


class Held(Stored):
    """The counts of a model file in memory, its journal as ever."""

    @property
    def fits(self) -> bool:
        return self._tokens.column.size + self._pairs.column.size <= MOST_HELD

    def hold(self, before: Stored | None = None) -> None:
        """Read them; but take them over from before, if since then only the journal has changed."""
        if isinstance(before, Held) and before.generation == self.generation:
            self._tokens, self._pairs = before._tokens, before._pairs
        else:
            self._tokens, self._pairs = HeldRecords(self._tokens), HeldRecords(self._pairs)


class Remembering(Classifier):
    """Judges as any classifier does, by a view in which a token says the same in every message."""

    def __init__(self, counts: Held, view: View) -> None:
        super().__init__(counts, view)
        self._known: dict[int | str, Evidence | None] = {}  # by fingerprint; None if it says nothing

    def evidence(self, tokens: Sequence[Token]) -> list[Evidence]:
        known = self._known
        new = [token for token in tokens if token[0] not in known]
        if len(known) + len(new) > MOST_REMEMBERED:
            known, new = {}, list(tokens)
            self._known = known
        known.update([(token[0], None) for token in new])
        known.update([(item.feature, item) for item in super().evidence(new)])
        return [item for token in tokens if (item := known[token[0]])]


def opened(path: str, before: Model | None = None) -> Model:
    """A model to be kept, in place of the one that was kept before."""
    stored = Held.open(path)
    model = Model(stored)
    steady = model.view.event == "binary" and not model.view.tfidf
    if isinstance(stored, Held) and stored.fits and steady:
        stored.hold(before.stored if before else None)
        model.classifier = Remembering(stored, model.view)
    return model
