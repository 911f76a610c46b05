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
