"""Features of a message: fingerprints of its tokens and of pairs of neighbours, gathered as they are read.

A fingerprint has 64 bits, spread evenly, so that a model can be searched in place. The bytes of a token are
taken eight at a time: the result so far is XORed with them, multiplied by an odd factor, its upper half mixed
into the lower, and multiplied again. Whoever wants tokens to collide can make them do so. That gains a sender
nothing: he could write the hammy word itself.
"""

from __future__ import annotations

from spamnb.grams import GramSet
from spamnb.reading.token_table import ENTRY_BITS, LAST_ENTRY, TokenTable, number_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from spamnb.reading import unchecked  # C: unchecked.pxd

    Token = tuple[int, int, int]  # fingerprint, how often it occurs, HEAD or BODY
    Pair = tuple[int, int]  # fingerprint, HEAD or BODY

HEAD, BODY = 1, 0  # the two parts of a message, weighed separately
NO_LIMIT = 1 << 30
_MOST_ADDED = NO_LIMIT  # occurrences of all tokens of a message: so the sum for one is in 32 bits
LONGEST_WORD = 32  # characters; longer words (file names, encoded data, random strings) are shortened
MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
JOINERS = "'$!-_"  # may stand inside a word, beside letters and digits; all other characters separate words

FACTOR = 0x9E3779B97F4A7C15
PAIR_FACTOR = 0xB5D3C96A1F84E27D
MASK = (1 << 64) - 1
SPACE, QUOTE = b" '"
ONES = MASK // 255  # a one in each of eight bytes
SPACES, HIGHEST_BITS = SPACE * ONES, 128 * ONES

FIRST_SIZE = 1 << 12  # bytes for the texts of tokens


def mixed(state: int, eight: int) -> int:
    """Change a fingerprint by the next eight bytes of its token."""
    state = (state ^ eight) * FACTOR
    return (state ^ state >> 32) * FACTOR


class Tag:
    """What tokens of a kind begin with, and their fingerprint up to there."""

    def __init__(self, text: bytes) -> None:
        self.text, self.size = text, len(text)
        self.state = self.eight = 0
        self.shift = 0  # bits of `eight` that are filled
        self.take_text()

    def take_text(self) -> None:
        """Take the text into the fingerprint."""
        source = self.text
        for at in range(self.size):
            byte = source[at]
            self.eight |= byte << self.shift
            self.shift = self.shift + 8 & 63
            if not self.shift:
                self.state = mixed(self.state, self.eight)
                self.eight = 0


NO_TAG = Tag(b"")


def fingerprint_of(token: bytes) -> int:
    """Return the fingerprint of a token."""
    whole = Tag(token)
    return mixed(whole.state, whole.eight) if whole.shift else whole.state


def fingerprints_of(tokens: Iterable[str]) -> list[int]:
    """Return the fingerprint of each token."""
    return [fingerprint_of(token.encode()) for token in tokens]


def pair_fingerprint(first: str, second: str) -> int:
    """Return the fingerprint of two neighbours."""
    return fingerprint_of(first.encode()) * PAIR_FACTOR + fingerprint_of(second.encode())


class Features:
    """All that is counted of a message.

    A token is looked up by its fingerprint among those before, and its text is copied if it is new. So none
    becomes a Python object unless somebody asks for its text.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.text = bytearray(FIRST_SIZE)  # the texts of distinct tokens, one behind the other
        self.make_room()
        self.table = TokenTable()  # the last of its tables; those before are full
        self.full_tables: list[TokenTable] = []
        self.pair_table = TokenTable()
        self.full_pair_tables: list[TokenTable] = []
        self.gram_set = GramSet()
        self.order: list[int] | None = None  # the numbers of all tokens as they came, if somebody wants them
        self._texts: dict[int, str] | None = None  # what `texts` returned
        self._pair_numbers: dict[int, int] | None = None  # by fingerprint
        self.start_anew()

    def start_anew(self) -> None:
        """Forget everything, to be used for another message."""
        self.table.clear()
        self.pair_table.clear()
        self.gram_set.clear()
        self.gram_texts = [b"", b""]  # what the grams of body and head are taken from
        self.full_tables, self.full_pair_tables = [], []
        self._texts = self._pair_numbers = None
        self.first_number = 0  # of the tokens in the last table
        self.size = 0  # of the texts
        self.added = 0  # tokens, each as often as it occurs
        self.left = NO_LIMIT  # so many may still be added
        self.fingerprint = 0  # of the last token

    def add(self, tag: Tag, data: bytes, start: int, end: int, part: int, times: int = 1) -> int:
        """Count a token, a tag and a piece of data behind it.

        Return its number, or -1 if no more tokens are allowed.
        """
        size = len(data)
        if start > end or end > size:
            raise IndexError("a token ends behind its data")
        # Its text is put behind the others, and stays there if it is new.
        at, to = start, self.size + tag.size
        while to + end - start > self.room:
            self.make_room()
        source, text, state, eight, shift = data, self.letters, tag.state, tag.eight, tag.shift
        while at < end:
            bits = 64 if at + 8 <= end else 8 * (end - at)
            piece = unchecked.load_eight(source, at, size) & MASK >> 64 - bits
            unchecked.store_eight(text, to + at - start, piece)
            eight |= piece << shift
            if shift + bits >= 64:
                state = mixed(state, eight)
                eight = piece >> 8 >> 56 - shift
            shift = shift + bits & 63
            at += 8
        return self.count(mixed(state, eight) if shift else state, tag, to + end - start, part, times)

    def count(self, fingerprint: int, tag: Tag, end: int, part: int, times: int) -> int:
        """Count a token whose text ends there; return its number, or -1 if no more tokens are allowed."""
        if times > self.left:
            times = self.left
        if times > _MOST_ADDED - self.added:
            times = _MOST_ADDED - self.added
        if times <= 0:
            return -1
        self.left -= times
        self.added += times
        self.fingerprint = fingerprint
        number = number_in(self.full_tables, fingerprint) if self.first_number else -1
        if number >= 0:
            table = self.full_tables[number >> ENTRY_BITS]
            table.times[number & LAST_ENTRY] += times
        else:
            used = self.table.used
            entry = self.table.entry_of(fingerprint, part, self.size, end)
            if entry < 0:
                self.full_tables.append(self.table)
                self.first_number += used
                self.table = TokenTable()
                used = entry = self.table.entry_of(fingerprint, part, self.size, end)
            if entry == used:  # a new one
                if tag.size:
                    unchecked.copy(self.letters, self.size, tag.text, tag.size)
                self.size = end
            self.table.times[entry] += times
            number = self.first_number + entry
        if self.order is not None:
            self.order.append(number)
        return number

    def make_room(self) -> None:
        """Double the room for texts."""
        self.text.extend(bytes(len(self.text)))
        self.letters, self.room = self.text, len(self.text) - 8  # which may be written behind a text

    def table_of(self, number: int) -> TokenTable:
        which = number >> ENTRY_BITS
        return self.full_tables[which] if which < len(self.full_tables) else self.table

    def add_token(self, token: str, part: int, times: int = 1) -> None:
        """Count a token given by its text."""
        data = token.encode()
        self.add(NO_TAG, data, 0, len(data), part, times)

    def add_pair(self, fingerprint: int, first: int, second: int, part: int) -> None:
        """Note two neighbours, given by the numbers of their tokens."""
        known = self.full_pair_tables and number_in(self.full_pair_tables, fingerprint) >= 0
        if not known and self.pair_table.entry_of(fingerprint, part, first, second) < 0:
            self.full_pair_tables.append(self.pair_table)
            self.pair_table = TokenTable()
            self.pair_table.entry_of(fingerprint, part, first, second)

    def add_grams(self, text: bytes, part: int) -> None:
        """Note the grams of a part."""
        self.gram_texts[part] = text
        self.gram_set.add(text, part)

    def add_words(
        self, tag: Tag, spaced: bytes, most: int, part: int, ngrams: int = 1, paired: bool = False
    ) -> int:
        """Count the words of a text, up to `most`, and their n-grams; return how many words there were.

        Neighbours are noted if they are to be `paired`.
        """
        longest, words, before, fingerprint, run = LONGEST_WORD, 0, -1, 0, []
        at, size, source = 0, len(spaced), spaced
        while words < most:
            while at < size and (source[at] == SPACE or source[at] == QUOTE):
                at += 1
            if at == size:
                break
            while self.size + tag.size + longest > self.room:
                self.make_room()
            start, to, found = at, self.size + tag.size, 0
            text, state, eight, shift = self.letters, tag.state, tag.eight, tag.shift
            while not found:  # as `add` does, up to the next space
                piece, bits = unchecked.load_eight(source, at, size), 64
                letters = piece ^ SPACES
                found = letters - ONES & ~letters & HIGHEST_BITS  # the lowest bit is that of the first space
                if found:
                    letters = (found - 1 & ~found) >> 7  # all bits of those before it
                    piece &= letters
                    bits = (letters & ONES) * ONES >> 53 & 120
                if at - start < longest:
                    unchecked.store_eight(text, to + at - start, piece)
                eight |= piece << shift
                if shift + bits >= 64:
                    state = mixed(state, eight)
                    eight = piece >> 8 >> 56 - shift
                shift = shift + bits & 63
                at += bits >> 3
            if at - start > longest or source[at - 1] == QUOTE:
                number = self.add_long_or_quoted_word(tag, spaced[start:at], part)
            else:
                whole = mixed(state, eight) if shift else state
                number = self.count(whole, tag, to + at - start, part, 1)
            if number < 0:
                break
            if paired and before >= 0:
                self.add_pair(fingerprint * PAIR_FACTOR + self.fingerprint, before, number, part)
            if ngrams > 1:
                run.append(number)
            before, fingerprint = number, self.fingerprint
            words += 1
        for n in range(2, ngrams + 1):
            self.add_ngrams(tag, run, n, part)
        return words

    def add_long_or_quoted_word(self, tag: Tag, data: bytes, part: int) -> int:
        """Count a word without the quotes behind it, shortened if it is over-long."""
        word = data.rstrip(b"'").decode()
        data = (word if len(word) <= LONGEST_WORD else shortened(word)).encode()
        return self.add(tag, data, 0, len(data), part)

    def add_ngrams(self, tag: Tag, run: list[int], n: int, part: int) -> None:
        """Count each n neighbours of a run of tokens, given by their numbers, as one token."""
        for start in range(len(run) - n + 1):
            words = [self.text_of_number(number)[tag.size :] for number in run[start : start + n]]
            gram = b" ".join(words)
            self.add(tag, gram, 0, len(gram), part)

    def text_of_number(self, number: int) -> bytes:
        table, entry = self.table_of(number), number & LAST_ENTRY
        return bytes(self.text[table.starts[entry] : table.ends[entry]])

    @property
    def tokens(self) -> list[Token]:
        """Return each token once; tokens whose fingerprints collide count as one."""
        return self._entries(False)

    @property
    def pairs(self) -> list[Pair]:
        """Return each pair of neighbours, in the subject or in a text, once."""
        return self._entries(True)

    def _entries(self, of_pairs: bool) -> list[Any]:
        """Return a tuple for each token or pair, with the model's fingerprints."""
        tables = [*self.full_pair_tables, self.pair_table] if of_pairs else [*self.full_tables, self.table]
        found: list[Any] = []
        for table in tables:
            for entry in range(table.used):
                fingerprint, part = table.fingerprints[entry & LAST_ENTRY], table.parts[entry & LAST_ENTRY]
                if of_pairs:
                    found.append((fingerprint, part))
                else:
                    found.append((fingerprint, table.times[entry & LAST_ENTRY], part))
        return found

    @property
    def grams(self) -> list[int]:
        """Return the counters of the grams of the message, each once."""
        return self.gram_set.as_list()

    @property
    def texts(self) -> dict[int, str]:
        """Return tokens by their fingerprints, to learn or explain them; of those that collide, the first."""
        if self._texts is None:
            texts = [self.text_of_number(number).decode() for number in range(self.token_count())]
            self._texts = dict(zip([token[0] for token in self.tokens], texts, strict=True))
        return self._texts

    def token_count(self) -> int:
        """Return the number of distinct tokens."""
        return self.first_number + self.table.used

    def in_order(self) -> list[str]:
        """Return all tokens as they came, if their order was asked for."""
        return [self.text_of_number(number).decode() for number in self.order or ()]

    def text_of(self, feature: int | str) -> str:
        """Return a token or, with a space between them, the two words of a pair; of a number its name."""
        if isinstance(feature, str):
            return feature
        token = self.texts.get(feature)
        return self._text_of_pair(feature) if token is None else token

    def _text_of_pair(self, fingerprint: int) -> str:
        if self._pair_numbers is None:
            self._pair_numbers = {pair[0]: number for number, pair in enumerate(self.pairs)}
        number = self._pair_numbers[fingerprint]
        which, entry = number >> ENTRY_BITS, number & LAST_ENTRY
        table = self.full_pair_tables[which] if which < len(self.full_pair_tables) else self.pair_table
        first, second = self.text_of_number(table.starts[entry]), self.text_of_number(table.ends[entry])
        return f"{first.decode()} {second.decode()}"


def shortened(word: str) -> str:
    """Return a short form of an over-long word: how it starts, and roughly how long it is."""
    return f"{word[:6]}~{len(word).bit_length()}"
