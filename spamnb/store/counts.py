"""Types of raw counts, as views read them: in memory, in a file, or in many columns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class TotalCounts(Protocol):
        """Sums over a whole table: all of it that the probability of a token needs beside its own counts."""

        @property
        def labels(self) -> Sequence[str]: ...
        @property
        def messages(self) -> Sequence[int]: ...
        @property
        def presences(self) -> Sequence[int]: ...
        @property
        def occurrences(self) -> Sequence[int]: ...
        @property
        def vocabulary(self) -> int: ...
        @property
        def numbers(self) -> Mapping[str, Sequence[Sums]]: ...
        @property
        def pair_presences(self) -> Sequence[int]: ...
        @property
        def pair_vocabulary(self) -> int: ...
        def histogram(self) -> Mapping[tuple[int, ...], int]: ...

    class Counts(TotalCounts, Protocol):
        """A table to look tokens up in, whether it lies in memory or in a file."""

        def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]: ...
        def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]: ...
        def counts_of_grams(self, counters: Sequence[int]) -> GramCounts: ...

    class StoredCounts(Counts, Protocol):
        """A table that can be held in memory, with the grams of all messages."""

        def gram_layers(self) -> list[GramLayer]: ...

    GramCounts = bytearray  # by gram of a message and label, 64 bits each: messages that have it
    # The counts of all grams, by counter and label, of equal width; changes not made in these yet.
    GramLayer = tuple[bytes, Mapping[int, Sequence[int]]]
    Sums = Sequence[int | float]  # n, Σx, Σx²
    Steps = Sequence[tuple[int, int]]  # label indices, and 1 to add or -1 to subtract counts there
    Row = tuple[int, ...]  # messages with the token, label by label; then occurrences likewise
    Token = tuple[int, int, int]  # fingerprint, how often it occurs, the part of the message that has it
    Pair = tuple[int, int]  # two neighbours: fingerprint, part; only the messages with them are counted
