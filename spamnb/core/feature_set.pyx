# The features of one message as Python objects, for explanations and tests.

cdef Size entry_without_text(EntryTable *table, uint64_t fingerprint, int part) except -1:
    """Return the number of the entry with this fingerprint; if there is none, add one without a text."""
    cdef Size used = table.used, number
    make_table_room(table)
    number = entry_of(table, fingerprint)
    if number == used:
        set_entry(&table.entries[number], 0, 0, part & 1)
    return number


NUMBERS = ("size", "capitals", "digits", "exclamations", "html", "links", "recipients", "hour")


cdef class FeatureSet:
    """The features of one message; they become Python objects only when a property is read."""

    cdef Features it
    cdef object message  # the message of these features, kept because `gram_texts` point into its memory
    cdef dict known_texts  # fingerprint: text, of each token; None until it is needed
    cdef dict pair_numbers  # fingerprint: number, of each pair; None until it is needed

    def __cinit__(self):
        start_features(&self.it)

    def __dealloc__(self):
        free_features(&self.it)

    @staticmethod
    def of(tokens, numbers=None, pairs=(), grams=()):
        """Return a `FeatureSet` without texts, given what its properties of the same names will return."""
        cdef FeatureSet features = FeatureSet()
        cdef Features *it = &features.it
        cdef uint64_t fingerprint
        for fingerprint, times, part in tokens:
            it.tokens.entries[entry_without_text(&it.tokens, fingerprint, part)].times += times
        for fingerprint, part in pairs:
            entry_without_text(&it.pairs, fingerprint, part)
        for counter in list(grams)[:MAX_GRAMS]:
            it.grams[it.gram_count] = <uint32_t>counter & (COUNTERS - 1)
            it.gram_count += 1
        for name, value in (numbers or {}).items():
            it.numbers[NUMBERS.index(name)] = value
        return features

    @property
    def tokens(self):
        """A list of the distinct tokens: (fingerprint, number of occurrences in the message, HEAD or BODY)."""
        cdef Size n
        cdef Entry *found = self.it.tokens.entries
        return [(found[n].fingerprint, found[n].times, found[n].part) for n in range(self.it.tokens.used)]

    @property
    def pairs(self):
        """A list of the distinct pairs of neighbouring words, each as (fingerprint, HEAD or BODY)."""
        cdef Size n
        cdef Entry *found = self.it.pairs.entries
        return [(found[n].fingerprint, found[n].part) for n in range(self.it.pairs.used)]

    @property
    def grams(self):
        """A list: the numbers of the counters for the message's grams (runs of four bytes), each once."""
        cdef Size n
        return [self.it.grams[n] for n in range(self.it.gram_count)]

    @property
    def gram_texts(self):
        """A list of two texts, of body and head, as bytes; their grams (runs of four bytes) are counted."""
        return [bytes_of(self.it.gram_texts[BODY]), bytes_of(self.it.gram_texts[HEAD])]

    @property
    def numbers(self):
        """A dict: name in NUMBERS → value, for the numeric features that the message has."""
        cdef Size n
        return {NUMBERS[n]: self.it.numbers[n] for n in range(NUMBER_COUNT) if self.it.numbers[n] >= 0}

    @property
    def texts(self):
        """A dict: fingerprint → text of the token; if several tokens have one fingerprint, the text of the first."""
        cdef Size n
        if self.known_texts is None:
            self.known_texts = {
                self.it.tokens.entries[n].fingerprint: str_of(text_of_entry(&self.it, n))
                for n in range(self.it.tokens.used)
            }
        return self.known_texts

    def in_order(self):
        """Return the texts of all tokens in message order, with repetitions; [] if the order was not stored."""
        cdef Size n
        return [str_of(text_of_entry(&self.it, self.it.order[n])) for n in range(self.it.ordered)]

    def text_of(self, feature):
        """Return the text of a token or pair, given its fingerprint; a name (str) is returned unchanged."""
        cdef Size n
        if isinstance(feature, str):
            return feature
        token = self.texts.get(feature)
        if token is not None:
            return token
        if self.pair_numbers is None:
            self.pair_numbers = {self.it.pairs.entries[n].fingerprint: n for n in range(self.it.pairs.used)}
        n = self.pair_numbers[feature]
        first, second = self.it.pairs.entries[n].start, self.it.pairs.entries[n].end
        return f"{str_of(text_of_entry(&self.it, first))} {str_of(text_of_entry(&self.it, second))}"


def fingerprint_of(token: bytes) -> int:
    """Return the fingerprint of a token, a hash of 64 bits."""
    return fingerprint_of_text(text_of(token))


def fingerprints_of(tokens) -> list:
    """Return the fingerprints of tokens, which are given as str."""
    return [fingerprint_of(token.encode()) for token in tokens]


def pair_fingerprint(first: str, second: str) -> int:
    """Return the fingerprint of the pair of two neighbouring words."""
    cdef uint64_t before = fingerprint_of(first.encode()), after = fingerprint_of(second.encode())
    return before * PAIR_FACTOR + after


def counter_of(gram: int, part: int) -> int:
    """Return the number of the counter for a gram; `gram`: four bytes as one number, `part`: HEAD or BODY."""
    return counter_of_gram(gram, part)


def part_of(counter: int) -> int:
    """Return HEAD or BODY: the part of a message in which this counter counts grams."""
    return counter >> PART_BIT
