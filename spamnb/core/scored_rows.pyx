# Arrays for scoring many messages at once; and mail that is learned while it is scored.

cdef enum:
    VOCABULARY_OF_GRAMS = 2  # |V| for grams: a message has a gram or does not


cdef class ScoredRows:
    """The numbers of the messages to score, and arrays for their scores; __cinit__ checks all of them."""

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
            raise IndexError("a message number does not exist, or `joints` is too small for all scores")
        if label_indices is not None:
            self.labels_given = Numbers(label_indices, 8)
            self.labels = <const int64_t *>self.labels_given.at
            if self.labels_given.count != self.count or not are_below_64(self.labels, self.count, label_count):
                raise IndexError("`label_indices` must have a valid label index for each message")
        if parts is not None:
            self.parts_given = Numbers(parts, 8, True)
            self.parts = <double *>self.parts_given.at
            if self.parts_given.count < 2 * self.count * label_count:
                raise IndexError("`parts` is too small: it needs two numbers per message and label")

    cdef double *joint_of(self, Size at) noexcept nogil:
        """Return the address for the log-joints of the message at index `at` of the list."""
        return self.joints + at * self.label_count

    cdef double *parts_of(self, Size at) noexcept nogil:
        """Return the address for mean weights (body, head) of the message at index `at`; NULL if unwanted."""
        return self.parts + 2 * at * self.label_count if self.parts is not NULL else NULL


cdef bint are_below_64(const int64_t *numbers, Size count, int64_t limit) noexcept nogil:
    """Return whether all numbers are from 0 to `limit` - 1."""
    cdef Size at
    for at in range(count):
        if not 0 <= numbers[at] < limit:
            return False
    return True


# Mail that is learned as it is scored

cdef int learn_online(FeatureScorer scorer, MessageRows rows, ScoredRows it) except -1:
    """Score each message with the counts so far, then add this message to the counts."""
    cdef bint reads_background = not scorer.scorer.is_averaged or scorer.reads_numbers
    cdef CountTable table = scorer.table
    cdef Size at
    scorer.likelihood.update(table)
    if rows.owner is not table.identity:
        rows.start_places(table.identity)
    table.only_day = 0 if not table.used else table.only_day
    with nogil:
        for at in range(it.count):
            # First add the tokens with counts of 0: each is searched for only once, then found by its number.
            count_entries(table, rows, it.messages[at], <int>it.labels[at], 0, 0)
            scorer.score_message(rows, it, at, NO_LABEL)
            count_message(table, rows, it.messages[at], <int>it.labels[at], max(table.only_day, 0), 1)
            if reads_background:
                with gil:
                    scorer.likelihood.update(table)
            else:
                update_totals(scorer, scorer.scorer.weigher, table)
    return 0


cdef void update_totals(FeatureScorer scorer, Weigher weigher, CountTable table) noexcept nogil:
    """Set the weigher's totals to those of `table`, as `Likelihood.update` does, but without Python calls."""
    cdef int64_t[MAX_COLUMNS] totals
    cdef int64_t messages = 0, vocabulary = table.vocabulary
    cdef int k
    for k in range(table.label_count):
        messages += table.message_totals[k]
        totals[k] = table.occurrence_totals[k] if weigher.is_multinomial else table.presence_totals[k]
        totals[k] += table.pair_totals[k] if scorer.reads_pairs else 0
    vocabulary += table.pair_vocabulary if scorer.reads_pairs else 0
    weigher.change_totals(totals, vocabulary, messages)
    if scorer.reads_grams:
        scorer.scorer.grams.weigher.change_totals(table.message_totals, VOCABULARY_OF_GRAMS, messages)
