# What a record of a journal has of the message that was learned.


def lesson_of(FeatureSet features not None):
    """Return fingerprints of tokens, how often each occurs, the tokens with a line feed behind each; pairs; grams.

    All are bytes: of numbers of 64, 16, 64 and 32 bits.
    """
    cdef Entry *tokens = features.it.tokens.entries
    cdef Entry *pairs = features.it.pairs.entries
    cdef Size n, count = features.it.tokens.used, pair_count = features.it.pairs.used
    cdef bytes fingerprints = PyBytes_FromStringAndSize(NULL, 8 * count)
    cdef bytes occurrences = PyBytes_FromStringAndSize(NULL, 2 * count)
    cdef bytes of_pairs = PyBytes_FromStringAndSize(NULL, 8 * pair_count)
    for n in range(count):
        (<uint64_t *><char *>fingerprints)[n] = tokens[n].fingerprint
        (<uint16_t *><char *>occurrences)[n] = min(tokens[n].times, 0xFFFFu)
    for n in range(pair_count):
        (<uint64_t *><char *>of_pairs)[n] = pairs[n].fingerprint
    texts = [bytes_of(text_of_entry(&features.it, n)) for n in range(count)]
    texts.append(b"")
    return fingerprints, occurrences, b"\n".join(texts), of_pairs, (<char *>features.it.grams)[:4 * features.it.gram_count]


def growth(Counts counts not None, bytes words not None, bytes pairs not None, bint is_forgotten):
    """Return by how many words and pairs the counts grow with a message; forgetting it takes away what no other has."""
    cdef bytes fingerprints = words + pairs
    cdef Size count = len(fingerprints) // 8, width = 2 * counts.label_count, n, k
    cdef Size[2] grown
    cdef int64_t *rows = <int64_t *>memory_of(NULL, count * width * sizeof(int64_t) + 1)
    cdef int64_t messages, lone = 1 if is_forgotten else 0
    cdef bint is_pair
    grown = [0, 0]
    try:
        counts.find(<const uint64_t *><const char *>fingerprints, count, rows)
        for n in range(count):
            messages, is_pair = 0, 8 * n >= len(words)
            for k in range(n * width, n * width + counts.label_count):
                messages += rows[k]
            if messages == lone:
                grown[is_pair] += -1 if is_forgotten else 1
        return grown[0], grown[1]
    finally:
        free(rows)
