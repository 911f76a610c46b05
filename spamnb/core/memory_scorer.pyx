# Scores of messages by counts that are held in memory: no token becomes an object, and no lock is held.
#
# For views that take a mean for two labels, as the default one does. The counts of a model file are read into a hash
# table once, and only read then; what its journal changes is in a second one. Counts that are left on disk are looked
# up by Python. Tables are as large as the file's columns; a slot beyond the last one in use is always free.

cdef enum:
    MAX_STEPS = 32  # from the slot where a fingerprint belongs, one by one; further ones are bisected
    MAX_HASH_WIDTH = 4  # bytes of a count, of which a slot holds two

cdef uint64_t LOWER_HALF = 0xFFFFFFFFu


cdef struct Slot:
    uint64_t fingerprint
    uint64_t packed  # both counts; 0: the slot is free


cdef class CountHash:
    """In how many messages of two labels each token is, found by the first bits of its fingerprint.

    A token is in the slot where it belongs, or in one of those behind, with none free in between; and all are in the
    order of their fingerprints.
    """

    cdef Slot *slots
    cdef Size count, next_slot
    cdef int shift

    def __cinit__(self, Size size, *_):
        if not 0 <= size < <Size>1 << 40:
            raise ValueError("not so many records")
        cdef int bits = max(size * 4 // 3, 1).bit_length()
        self.shift = 64 - bits
        self.count = (<Size>1 << bits) + size + 1
        self.slots = <Slot *>calloc(self.count, sizeof(Slot))  # pages that stay empty take no memory
        if self.slots is NULL:
            raise MemoryError

    def __init__(self, Size size, bytes records=b"", Size width=0, int count_width=0):
        """Read so many records of a model file, each of some bytes: a fingerprint, then counts of equal width."""
        cdef const Byte *at = <const Byte *>PyBytes_AS_STRING(records)
        cdef Size record
        if not records:
            return
        if not 1 <= count_width <= MAX_HASH_WIDTH or width < KEY_BYTES + 2 * count_width or len(records) < size * width:
            raise ValueError("not the records of two labels")
        with nogil:
            for record in range(size):
                self.put(eight_at(at), number_at(at + KEY_BYTES, count_width)
                         | number_at(at + KEY_BYTES + count_width, count_width) << 32)
                at += width

    def __dealloc__(self):
        free(self.slots)

    cdef inline void put(self, uint64_t fingerprint, uint64_t packed) noexcept nogil:
        """Fill a slot; fingerprints come in order. What is not in order takes a slot as well, and is not found."""
        cdef Size home = fingerprint >> self.shift
        if packed and self.next_slot < self.count - 1:
            self.next_slot = max(home, self.next_slot)
            self.slots[self.next_slot].fingerprint, self.slots[self.next_slot].packed = fingerprint, packed
            self.next_slot += 1

    cdef inline uint64_t find(self, uint64_t fingerprint) noexcept nogil:
        """Return both counts of a fingerprint in one number, 0 if it is unknown."""
        cdef Slot *slot = &self.slots[fingerprint >> self.shift]
        cdef Slot *end = slot + MAX_STEPS
        while slot.packed and slot.fingerprint < fingerprint:  # the last slot is free
            slot += 1
            if slot == end:
                slot = self.bisected(fingerprint, slot - self.slots)
                break
        return slot.packed if slot.fingerprint == fingerprint else 0

    cdef Slot *bisected(self, uint64_t fingerprint, Size first) noexcept nogil:
        """Find the first slot from one on that is free or has no lower fingerprint.

        Only words that somebody made up have many neighbours.
        """
        cdef Size last = self.count - 1, middle
        while first < last:
            middle = (first + last) // 2
            if self.slots[middle].packed and self.slots[middle].fingerprint < fingerprint:
                first = middle + 1
            else:
                last = middle
        return &self.slots[first]


cdef class ChangedHash:
    """The counts of a CountHash, and those that a journal changes."""

    cdef CountHash counts, places  # places: 1 + where the counts of a changed token are
    cdef uint64_t *changed
    cdef bint has_changes

    def __init__(self, CountHash counts not None, dict changes):
        """Take changes: by fingerprint what is added to the counts, label by label."""
        cdef Size at = 0
        cdef uint64_t fingerprint, packed
        self.counts, self.places, self.has_changes = counts, CountHash(len(changes)), len(changes) > 0
        self.changed = <uint64_t *>calloc(len(changes) + 1, sizeof(uint64_t))
        if self.changed is NULL:
            raise MemoryError
        for fingerprint in sorted(changes):
            packed, change = counts.find(fingerprint), changes[fingerprint]
            self.changed[at] = packed_counts(
                <int64_t>(packed & LOWER_HALF) + <int64_t>change[0], <int64_t>(packed >> 32) + <int64_t>change[1])
            at += 1
            self.places.put(fingerprint, at)

    def __dealloc__(self):
        free(self.changed)

    cdef inline uint64_t find(self, uint64_t fingerprint) noexcept nogil:
        cdef uint64_t place = self.places.find(fingerprint) if self.has_changes else 0
        return self.changed[place - 1] if place else self.counts.find(fingerprint)

    cdef void add_counts(self, const Entry *entries, Size size, uint64_t *counts, uint64_t *others) noexcept nogil:
        """Add the counts of tokens, at most AT_ONCE. Prefetched, so that cache misses overlap; halves the run time."""
        cdef Size at
        cdef uint64_t packed
        for at in range(size):
            __builtin_prefetch(&self.counts.slots[entries[at].fingerprint >> self.counts.shift])
        for at in range(size):
            packed = self.find(entries[at].fingerprint)
            counts[at] += packed & LOWER_HALF
            others[at] += packed >> 32


cdef inline uint64_t packed_counts(int64_t count, int64_t other) noexcept nogil:
    """Put two counts into one number; what is below 0 is 0, what has more than 32 bits the highest."""
    cdef int64_t highest = LOWER_HALF
    return <uint64_t>min(max(count, 0), highest) | <uint64_t>min(max(other, 0), highest) << 32


cdef class CountLayer:
    """The counts of one model file and its journal: in memory, or looked up on disk.

    `tables`: those of its tokens and pairs (a CountHash each), or None.
    """

    cdef readonly object stored
    cdef readonly bint in_memory
    cdef ChangedHash tokens, pairs

    def __init__(self, stored, tables, dict changes, dict pair_changes):
        self.stored, self.in_memory = stored, tables is not None
        if tables is not None:
            self.tokens, self.pairs = ChangedHash(tables[0], changes), ChangedHash(tables[1], pair_changes)

    cdef dict rows(self, EntryTable *table, bint are_pairs):
        """Look up the rows of a message's tokens or pairs, if they are on disk."""
        cdef Size n
        if self.in_memory:
            return None
        fingerprints = [table.entries[n].fingerprint for n in range(table.used)]
        return self.stored.pair_rows(fingerprints) if are_pairs else self.stored.rows(fingerprints)


def gram_weights(Scorer scorer not None, list layers):
    """Weigh all grams by the sums of some layers: bytes of counts, by counter and label, and changes of some."""
    cdef GramWeights found = GramWeights()
    cdef uint64_t *counts = <uint64_t *>calloc(2 * COUNTERS, sizeof(uint64_t))
    cdef const Byte *data
    cdef uint64_t before
    cdef Size place, k
    cdef int width
    if counts is NULL:
        raise MemoryError
    try:
        for layer, changes in layers:
            data, width = layer, len(layer) // (2 * COUNTERS)
            with nogil:
                for place in range(2 * COUNTERS):
                    counts[place] += min(number_at(data + place * width, width), MAX_ROW_COUNT) if width else 0
            for counter, change in changes.items():
                for k in range(2):
                    place = 2 * (<uint32_t>counter & (COUNTERS - 1)) + k
                    before = min(number_at(data + place * width, width), MAX_ROW_COUNT) if width else 0
                    counts[place] += max(<int64_t>change[k], -<int64_t>before)
        with nogil:
            for place in range(COUNTERS):
                found.weigh(scorer, place, min(counts[2 * place], MAX_ROW_COUNT),
                            min(counts[2 * place + 1], MAX_ROW_COUNT))
    finally:
        free(counts)
    return found


cdef class FeatureScorer:
    """Scores messages by the sum of one or two layers of counts. Each thread has its own (`another`)."""

    cdef object likelihood, counts
    cdef Scorer scorer
    cdef CountLayer own, base
    cdef GramWeights gram_weights  # if the grams of all mail are in memory
    cdef bint has_pairs, has_grams, is_on_disk
    cdef dict own_rows, base_rows  # of a message, where these are on disk

    def __init__(self, likelihood, counts, list layers, gram_weights=None):
        """Take the layers, and what grams are looked up by (`counts_of_grams`) unless all are weighed."""
        self.likelihood, self.counts, self.gram_weights = likelihood, counts, gram_weights
        self.scorer = Scorer(likelihood)
        if not self.scorer.is_of_two or not 1 <= len(layers) <= 2:
            raise ValueError("not a mean of two labels")
        self.own = layers[0]
        self.base = layers[1] if len(layers) > 1 else None
        self.is_on_disk = not all([layer.in_memory for layer in layers])
        self.has_pairs, self.has_grams = likelihood.view.pairs, self.scorer.grams is not None

    def another(self):
        """Return a scorer by the same counts for another thread."""
        layers = [self.own] if self.base is None else [self.own, self.base]
        return FeatureScorer(self.likelihood, self.counts, layers, self.gram_weights)

    def score(self, FeatureSet features not None):
        """Return the log-joints, and what body and head add to them by their words."""
        cdef double[2] joint
        cdef double[4] parts
        with nogil:
            self.score_into(&features.it, joint, parts)
        return [joint[0], joint[1]], [[parts[0], parts[1]], [parts[2], parts[3]]]

    cdef int score_into(self, Features *features, double *joint, double *parts) except -1 nogil:
        """Find the two log-joints of a message, and two numbers each for body and head."""
        self.scorer.clear()
        self.add(&features.tokens, False)
        if self.has_pairs:
            self.add(&features.pairs, True)
        if self.gram_weights is not None:
            self.gram_weights.add(self.scorer.grams, features.grams, features.gram_count)
        elif self.has_grams:
            with gil:
                self.add_grams_on_disk(features)
        self.scorer.put_joint(joint)
        self.scorer.put_means(parts)
        return 0

    cdef int add(self, EntryTable *table, bint are_pairs) except -1 nogil:
        """Add the tokens or pairs of a message; those without counts are left out."""
        cdef Size start = 0, size, at, known
        cdef uint64_t[AT_ONCE] counts, others
        if self.is_on_disk:
            with gil:
                self.own_rows = self.own.rows(table, are_pairs)
                self.base_rows = None if self.base is None else self.base.rows(table, are_pairs)
        while start < table.used:
            size, known = min(<Size>AT_ONCE, table.used - start), 0
            memset(counts, 0, sizeof(counts))
            memset(others, 0, sizeof(others))
            self.add_layer(self.own, self.own_rows, table.entries + start, size, are_pairs, counts, others)
            if self.base is not None:
                self.add_layer(self.base, self.base_rows, table.entries + start, size, are_pairs, counts, others)
            for at in range(size):
                self.scorer.counts[known], self.scorer.other_counts[known] = counts[at], others[at]
                self.scorer.parts[known] = table.entries[start + at].part
                known += counts[at] | others[at] > 0
            self.scorer.compare_all(known)
            start += size
        return 0

    cdef int add_layer(self, CountLayer layer, dict rows, const Entry *entries, Size size, bint are_pairs,
                       uint64_t *counts, uint64_t *others) except -1 nogil:
        """Add what a layer has of some tokens or pairs."""
        cdef Size at
        cdef uint64_t packed
        if layer.in_memory and are_pairs:
            layer.pairs.add_counts(entries, size, counts, others)
        elif layer.in_memory:
            layer.tokens.add_counts(entries, size, counts, others)
        else:
            with gil:
                for at in range(size):
                    row = rows.get(entries[at].fingerprint)
                    if row is not None:
                        packed = packed_counts(min(row[0], MAX_ROW_COUNT), min(row[1], MAX_ROW_COUNT))
                        counts[at] += packed & LOWER_HALF
                        others[at] += packed >> 32
        return 0

    cdef int add_grams_on_disk(self, Features *features) except -1:
        cdef Size n
        counters = [features.grams[n] for n in range(features.gram_count)]
        self.scorer.grams.add_grams(counters, self.counts.counts_of_grams(counters))
        return 0


cdef class MessageScorer:
    """Reads and scores many messages in one call, so that threads seldom wait for Python's lock; one for each thread."""

    cdef Reader reader
    cdef FeatureScorer scorer
    cdef object words  # of the settings: what the rules for words refer to

    def __cinit__(self, settings, FeatureScorer scorer not None):
        self.words, self.scorer = start_reader(&self.reader, settings), scorer.another()

    def __dealloc__(self):
        free_reader(&self.reader)

    def scores(self, list messages not None):
        """Return for each message what `FeatureScorer.score` does."""
        cdef Size count = len(messages), n
        cdef Text *texts = <Text *>memory_of(NULL, count * sizeof(Text) + 1)
        cdef double *found = NULL
        try:
            found = <double *>memory_of(NULL, 6 * count * sizeof(double) + 1)
            for n in range(count):
                texts[n] = text_of(messages[n])
            with nogil:
                for n in range(count):
                    read_features(&self.reader, texts[n], False, NULL)
                    self.scorer.score_into(&self.reader.features, found + 6 * n, found + 6 * n + 2)
            return [
                (
                    [found[6 * n], found[6 * n + 1]],
                    [[found[6 * n + 2], found[6 * n + 3]], [found[6 * n + 4], found[6 * n + 5]]],
                )
                for n in range(count)
            ]
        finally:
            free(texts)
            free(found)
