"""Features of a message: fingerprints of tokens and pairs of neighbours, each with the part that has it."""

from __future__ import annotations

# What collections.Counter counts with, in C: 25 ns a token, not 60. Importing collections costs 2.6 ms.
from _collections import _count_elements  # type: ignore[import-not-found]
from itertools import pairwise

from spamnb.reading.words import words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from spamnb.reading.fingerprint import Fingerprints

    Token = tuple[int, int, int]  # fingerprint, how often it occurs, HEAD or BODY
    Pair = tuple[int, int]  # fingerprint, HEAD or BODY

HEAD, BODY = 1, 0  # the two parts of a message, weighed separately


class Features:
    """All that is counted of a message. Texts are cut and fingerprinted once, when first asked for."""

    __slots__ = (
        *("_fingerprints", "_pair_texts", "_pairs", "_plain", "_runs", "_texts", "_tokens"),
        *("body", "head", "numbers", "spaced", "subject"),
    )

    def __init__(
        self,
        head: list[str],
        body: list[str],
        subject: list[str],
        spaced: list[bytes],
        numbers: dict[str, int],
        fingerprints: Fingerprints,
    ) -> None:
        self.head = head  # tokens of the headers, each as often as it occurs
        self.body = body  # all other tokens, without the words of the texts
        self.subject = subject  # words of the subject, in order; the head has them, too
        self.spaced = spaced  # the texts: words with spaces between them
        self.numbers = numbers
        self._fingerprints = fingerprints
        self._runs: list[list[str]] = []  # the words of each text
        self._plain: dict[str, int] = {}  # fingerprints by token, not keyed
        self._tokens: list[Token] | None = None
        self._pairs: list[Pair] | None = None
        self._texts: dict[int, str] = {}
        self._pair_texts: dict[int, str] = {}

    @property
    def tokens(self) -> list[Token]:
        """Return each token once; tokens whose fingerprints collide count as one."""
        if self._tokens is None:
            head: dict[str, int] = {}
            body: dict[str, int] = {}
            self._runs = [words_in(text) for text in self.spaced]
            _count_elements(head, self.head)
            for run in (self.body, *self._runs):
                _count_elements(body, run)
            self._plain, fingerprint_of = self._fingerprints.look_up([*head, *body])
            found = [(fingerprint_of[token], times, HEAD) for token, times in head.items()]
            found += [(fingerprint_of[token], times, BODY) for token, times in body.items()]
            self._tokens = found if len({token[0] for token in found}) == len(found) else merged(found)
        return self._tokens

    @property
    def pairs(self) -> list[Pair]:
        """Return each pair of neighbours, in the subject or in a text, once."""
        if self._pairs is None and self.tokens is not None:  # `tokens` fills _runs
            fingerprint_of, pairs = self._plain.__getitem__, self._fingerprints.pairs
            found: dict[int, int] = {}
            for run in self._runs:
                found |= dict.fromkeys(pairs(map(fingerprint_of, run)), BODY)
            found |= dict.fromkeys(pairs(map(fingerprint_of, self.subject)), HEAD)
            self._pairs = list(found.items())
        return self._pairs or []

    @property
    def texts(self) -> dict[int, str]:
        """Return tokens by their fingerprints, to learn or explain them; of those that collide, the first."""
        if not self._texts and self.tokens:
            words = (word for run in self._runs for word in run)
            tokens = list(dict.fromkeys([*self.head, *self.body, *words]))
            fingerprints = self._fingerprints.tokens(tokens)
            self._texts = dict(zip(reversed(fingerprints), reversed(tokens), strict=True))
        return self._texts

    def text_of(self, feature: int | str) -> str:
        """Return a token or, with a space between them, the two words of a pair; of a number its name."""
        if isinstance(feature, str):
            return feature
        if not self._pair_texts and feature not in self.texts:
            pairs = dict.fromkeys(pair for run in (self.subject, *self._runs) for pair in pairwise(run))
            self._pair_texts = {self._fingerprints.pair(*pair): " ".join(pair) for pair in pairs}
        return self.texts.get(feature) or self._pair_texts[feature]


def merged(tokens: Iterable[Token]) -> list[Token]:
    """Merge tokens of one fingerprint into one, in the part of the first."""
    found: dict[int, Token] = {}
    for fingerprint, times, part in tokens:
        _, earlier, first = found.get(fingerprint, (fingerprint, 0, part))
        found[fingerprint] = fingerprint, earlier + times, first
    return list(found.values())
