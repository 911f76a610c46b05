"""Types of the counts from which views compute probabilities."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class TotalCounts(Protocol):
        """Sums over all tokens; these sums and a token's own counts give the probability of the token."""

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

    Sums = Sequence[int | float]  # n, Σx, Σx²
    Row = tuple[int, ...]  # messages with the token, label by label; then occurrences, label by label
