# Many messages to be scored: where they are, and where their scores go; and mail that is learned as it is scored.

cdef enum:
    VOCABULARY_OF_GRAMS = 2  # a message has a gram, or not


cdef class ScoredRows:
    """What `score_rows` is given: checked once, so that its loop needs no checks."""

    cdef Numbers messages_given, labels_given, joints_given, parts_given
    cdef const int64_t *messages
    cdef const int64_t *labels
    cdef double *joints
    cdef double *parts
    cdef Size count
    cdef int label_count

    def __cinit__(self, MessageRows rows, int label_count, messages, label_indices, joints, parts):
        self.messages_given, self.joints_given = Numbers(messages, 8), Numbers(joints, 8, True)
        self.messages, self.count = <const int64_t *>self.messages_given.at, self.messages_given.count
        self.joints, self.label_count = <double *>self.joints_given.at, label_count
        if not are_below_64(self.messages, self.count, rows.it.messages) or (
            self.joints_given.count < self.count * label_count
        ):
            raise IndexError("no such messages")
        if label_indices is not None:
            self.labels_given = Numbers(label_indices, 8)
            self.labels = <const int64_t *>self.labels_given.at
            if self.labels_given.count != self.count or not are_below_64(self.labels, self.count, label_count):
                raise IndexError("no such labels")
        if parts is not None:
            self.parts_given = Numbers(parts, 8, True)
            self.parts = <double *>self.parts_given.at
            if self.parts_given.count < 2 * self.count * label_count:
                raise IndexError("too few parts")

    cdef double *joint_of(self, Size at) noexcept nogil:
        return self.joints + at * self.label_count

    cdef double *parts_of(self, Size at) noexcept nogil:
        return self.parts + 2 * at * self.label_count if self.parts is not NULL else NULL


cdef bint are_below_64(const int64_t *numbers, Size count, int64_t limit) noexcept nogil:
    cdef Size at
    for at in range(count):
        if not 0 <= numbers[at] < limit:
            return False
    return True


# Mail that is learned as it is scored

cdef int learn_online(FeatureScorer scorer, MessageRows rows, ScoredRows it) except -1:
    """Score messages, each by the counts of those before it."""
    cdef bint reads_background = not scorer.scorer.is_averaged or scorer.reads_numbers
    cdef bint reads_words_by_count = scorer.scorer.weigher.is_bernoulli and not scorer.scorer.weigher.is_global
    cdef WordsByCount words = WordsByCount(scorer.table, it.count if reads_words_by_count else 0)
    cdef CountTable table = scorer.table
    cdef Size at
    scorer.likelihood.update(table)
    with nogil:
        for at in range(it.count):
            scorer.score_message(rows, it, at, NO_LABEL)
            count_message(table, rows, it.messages[at], <int>it.labels[at], max(table.only_day, 0), 1)
            if reads_words_by_count:
                words.learn(table, &rows.it, it.messages[at], <int>it.labels[at])
            if reads_background:
                with gil:
                    scorer.likelihood.update(table, words.maps() if reads_words_by_count else None)
            else:
                take_totals(scorer, scorer.scorer.weigher, table)
    return 0


cdef void take_totals(FeatureScorer scorer, Weigher weigher, CountTable table) noexcept nogil:
    """Derive the denominators from the totals of a table, as `Likelihood.update` does."""
    cdef int64_t[MAX_COLUMNS] totals
    cdef int64_t messages = 0, vocabulary = table.word_count
    cdef int k
    for k in range(table.label_count):
        messages += table.message_totals[k]
        totals[k] = table.occurrence_totals[k] if weigher.is_multinomial else table.presence_totals[k]
        totals[k] += table.pair_totals[k] if scorer.reads_pairs else 0
    vocabulary += table.pair_count if scorer.reads_pairs else 0
    weigher.change_totals(totals, vocabulary, messages)
    if scorer.reads_grams:
        scorer.scorer.grams.weigher.change_totals(table.message_totals, VOCABULARY_OF_GRAMS, messages)


cdef class WordsByCount:
    """How many words are in how many messages of each label, while messages are learned: Bernoulli's view reads it."""

    cdef int64_t *words  # [label][messages]
    cdef Size size
    cdef int label_count

    def __cinit__(self, CountTable table not None, Size more):
        """Count the words of a table to which so many messages are added; none if there are no more."""
        cdef Size entry, k
        self.label_count = table.label_count
        for k in range(self.label_count):
            self.size = max(self.size, table.message_totals[k] + more + 1)
        self.words = <int64_t *>calloc(self.size * self.label_count, sizeof(int64_t))
        if self.words is NULL:
            raise MemoryError
        for entry in range(table.used if more else 0):
            for k in range(self.label_count, 2 * self.label_count):
                if table.row_of(entry)[k] > 0:
                    self.count(table.row_of(entry), NO_LABEL, 1)
                    break

    def __dealloc__(self):
        free(self.words)

    cdef void count(self, const int32_t *row, int without, int sign) noexcept nogil:
        """Count a word by its messages, one less of a label; or take it away again. One in no message is no word."""
        cdef int64_t total = 0
        cdef int k
        for k in range(self.label_count):
            total += row[k] - (k == without)
        if total > 0:
            for k in range(self.label_count):
                self.words[k * self.size + min(max(row[k] - (k == without), 0), self.size - 1)] += sign

    cdef void learn(self, CountTable table, const Rows *rows, Size message, int label_index) noexcept nogil:
        """Count the words of a message that the table has learned last."""
        cdef Size at, entry
        for at in range(rows.starts[message], rows.starts[message + 1]):
            entry = table.entry_of(rows.fingerprints[at]) if rows.times[at] else NOWHERE
            if entry >= 0:
                self.count(table.row_of(entry), label_index, -1)
                self.count(table.row_of(entry), NO_LABEL, 1)

    cdef list maps(self):
        """Return them as `Likelihood.update` takes them."""
        cdef Size n
        cdef int k
        return [
            {(n, 0): self.words[k * self.size + n] for n in range(self.size) if self.words[k * self.size + n]}
            for k in range(self.label_count)
        ]
