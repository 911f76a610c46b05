# Scores of many messages, whose tokens are places in a table of counts, and of those left out, one at a time.
#
# Arrays are numpy's, a row behind the other: places 32 bits, starts 64, and so on as `open` says. All places are
# checked once, when messages are opened, so that the loops need no checks. A scorer belongs to one thread; arrays of
# counts may be shared as long as no thread changes them.


cdef enum:
    NO_REVISION = -1
    WORTH_ALL_GRAMS = 200  # messages from which on all grams are weighed beforehand: 1.5 ms, as 200 messages' take


cdef class BulkScorer:
    """Scores messages by counts [token, count] and counts of grams [counter, label], both of 32 bits."""

    cdef Scorer scorer
    cdef Numbers counts, gram_counts
    cdef Numbers starts, places, times, parts, gram_starts, grams
    cdef int label_count
    cdef Size width, first_count
    cdef bint reads_tokens, is_tfidf, has_grams
    cdef GramWeights gram_weights, grams_without_first, grams_without_second  # of a message of one of two labels
    cdef int64_t[3] revisions  # of the weigher, when these were made

    def __init__(self, likelihood, counts, gram_counts, Size width):
        """Take the rows of counts, `width` numbers each, and those of grams, none if they are not counted."""
        view, self.scorer = likelihood.view, Scorer(likelihood)
        self.label_count, self.width = self.scorer.label_count, width
        self.first_count = self.label_count if self.scorer.weigher.is_multinomial else 0
        if width < self.first_count + self.label_count or width < 1:
            raise ValueError("not the rows of this view")
        self.reads_tokens = view.event != "gaussian"
        self.is_tfidf = view.tfidf and view.damping is None
        self.counts, self.gram_counts = Numbers(counts, 4), Numbers(gram_counts, 4)
        self.has_grams = self.scorer.grams is not None and self.gram_counts.count >= COUNTERS * self.label_count
        self.revisions = [NO_REVISION, NO_REVISION, NO_REVISION]

    def open(self, counts, starts, places, times, parts, gram_starts, grams):
        """Take the messages that are scored next, as `spamnb.arrays.Rows` has them, and their counts."""
        self.counts = Numbers(counts, 4)
        self.starts, self.places, self.times, self.parts = (
            Numbers(starts, 8), Numbers(places, 4), Numbers(times, 2), Numbers(parts, 1))
        self.gram_starts, self.grams = Numbers(gram_starts, 8), Numbers(grams, 4)
        size = min(self.places.count, self.times.count, self.parts.count)
        if (
            not are_starts(<int64_t *>self.starts.at, self.starts.count, size)
            or not are_starts(<int64_t *>self.gram_starts.at, self.gram_starts.count, self.grams.count)
            or self.gram_starts.count != self.starts.count
            or not are_below(<uint32_t *>self.places.at, size, self.counts.count // self.width)
            or not are_below(<uint32_t *>self.grams.at, self.grams.count, COUNTERS)
        ):
            raise IndexError("messages of another table")

    def score(self, messages, joints, parts):
        """Put the log-joints [message, label] of some messages, and what body and head add [message, part, label]."""
        self.score_all(messages, None, None, joints, parts)

    def score_left_out(self, messages, truth, lone, joints):
        """Put the log-joints of some messages, each by the counts without its own.

        For views that average the presence of tokens as the default one does. `truth` has the label of each message
        of the rows that are open, `lone` how many more tokens it has that no other message has.
        """
        if self.label_count < 2:
            raise ValueError("one label")
        self.score_all(messages, truth, lone, joints, None)

    cdef int score_all(self, messages, truth, lone, joints, parts) except -1:
        if self.starts is None:
            raise ValueError("no messages are open")
        cdef Numbers chosen = Numbers(messages, 8), into = Numbers(joints, 8, True), labels, more, part_means
        cdef const int64_t *message_at = <const int64_t *>chosen.at
        cdef const int64_t *label_at = NULL
        cdef const int64_t *lone_at = NULL
        cdef double *part_at = NULL
        cdef double *joint_at = <double *>into.at
        cdef Size message_count = self.starts.count - 1, at, size = chosen.count
        cdef int64_t message
        cdef int label = NO_LABEL
        if not are_below_64(message_at, size, message_count) or into.count < size * self.label_count:
            raise IndexError("no such messages")
        if truth is not None:
            labels, more = Numbers(truth, 8), Numbers(lone, 8)
            label_at, lone_at = <const int64_t *>labels.at, <const int64_t *>more.at
            if labels.count != message_count or more.count != message_count or not are_below_64(
                label_at, labels.count, self.label_count
            ):
                raise IndexError("no such labels")
        if parts is not None:
            part_means = Numbers(parts, 8, True)
            part_at = <double *>part_means.at
            if part_means.count < 2 * size * self.label_count:
                raise IndexError("too few parts")
        if truth is None:
            self.gram_weights = self.weighed_grams(self.gram_weights, size, NO_LABEL)
        else:
            self.grams_without_first = self.weighed_grams(self.grams_without_first, size, 0)
            self.grams_without_second = self.weighed_grams(self.grams_without_second, size, 1)
        with nogil:
            for at in range(size):
                message = message_at[at]
                self.scorer.clear()
                if label_at is not NULL:
                    label = <int>label_at[message]
                    self.leave_out(message, label, lone_at[message])
                self.add(message, label)
                self.scorer.put_joint(joint_at + at * self.label_count)
                if part_at is not NULL:
                    self.scorer.put_means(part_at + 2 * at * self.label_count)
        return 0

    cdef GramWeights weighed_grams(self, GramWeights known, Size messages, int left_out):
        """Weigh all grams of two labels, if many messages are scored; None if each is to be weighed when it is met."""
        cdef Size counter
        cdef GramWeights found
        cdef Scorer scorer = self.scorer.grams
        cdef const int32_t *counts = <const int32_t *>self.gram_counts.at
        if not self.has_grams or not scorer.is_of_two:
            return None
        if self.revisions[left_out + 1] == scorer.weigher.revision:
            return known
        self.revisions[left_out + 1] = NO_REVISION
        if messages < WORTH_ALL_GRAMS:
            return None
        found = GramWeights()
        scorer.clear()
        with nogil:
            self.leave_out_of_grams(left_out)
            for counter in range(COUNTERS):
                found.weigh(scorer, counter, count_without(counts[2 * counter], left_out == 0),
                            count_without(counts[2 * counter + 1], left_out == 1))
        self.revisions[left_out + 1] = scorer.weigher.revision
        return found

    cdef void leave_out(self, int64_t message, int label, int64_t unique) noexcept nogil:
        """Take denominators without a message, and so many tokens of its own alone."""
        cdef const int32_t *counts = <const int32_t *>self.counts.at
        cdef const int32_t *places = <const int32_t *>self.places.at
        cdef const int64_t *starts = <const int64_t *>self.starts.at
        cdef const int32_t *row
        cdef int64_t[MAX_COLUMNS] totals
        cdef int64_t at, total, tokens = unique
        cdef int k
        for at in range(starts[message], starts[message + 1]):
            row, total = counts + self.width * places[at], 0
            for k in range(self.label_count):
                total += row[k]
            tokens += total > 0
            unique += (total == 1) & (row[label] == 1)
        memcpy(totals, self.scorer.weigher.label_totals, sizeof(totals))
        totals[label] -= tokens
        self.scorer.weigher.set_denominators(
            totals, self.scorer.weigher.vocabulary - unique, self.scorer.log_denominators)
        self.leave_out_of_grams(label)

    cdef void leave_out_of_grams(self, int label) noexcept nogil:
        """Take denominators of grams without one message of a label."""
        cdef int64_t[MAX_COLUMNS] totals
        if self.scorer.grams is None or label == NO_LABEL:
            return
        memcpy(totals, self.scorer.grams.weigher.label_totals, sizeof(totals))
        totals[label] -= 1
        self.scorer.grams.weigher.set_denominators(
            totals, self.scorer.grams.weigher.vocabulary, self.scorer.grams.log_denominators)

    cdef void add(self, int64_t message, int left_out) noexcept nogil:
        """Add up the tokens of a message; if `left_out` is its label, the rows are taken without it."""
        cdef int64_t start = (<const int64_t *>self.starts.at)[message]
        cdef int64_t end = (<const int64_t *>self.starts.at)[message + 1]
        if self.reads_tokens and self.scorer.is_of_two:
            self.add_of_two(start, end, left_out)
        elif self.reads_tokens:
            self.add_of_many(start, end, left_out)
        if self.has_grams:
            start = (<const int64_t *>self.gram_starts.at)[message]
            end = (<const int64_t *>self.gram_starts.at)[message + 1]
            self.add_grams(start, end, left_out)

    cdef void add_of_two(self, int64_t start, int64_t end, int left_out) noexcept nogil:
        cdef const int32_t *counts = <const int32_t *>self.counts.at + self.first_count
        cdef const int32_t *places = <const int32_t *>self.places.at
        cdef const Byte *parts = <const Byte *>self.parts.at
        cdef int64_t at
        cdef Size size = 0, place
        for at in range(start, end):
            place = self.width * <Size>places[at]
            self.scorer.counts[size] = count_without(counts[place], left_out == 0)
            self.scorer.other_counts[size] = count_without(counts[place + 1], left_out == 1)
            self.scorer.parts[size] = parts[at]
            size += 1
            if size == AT_ONCE:
                self.scorer.compare_all(size)
                size = 0
        self.scorer.compare_all(size)

    cdef void add_of_many(self, int64_t start, int64_t end, int left_out) noexcept nogil:
        cdef const int32_t *counts = <const int32_t *>self.counts.at
        cdef const int32_t *places = <const int32_t *>self.places.at
        cdef const Byte *parts = <const Byte *>self.parts.at
        cdef const uint16_t *times = <const uint16_t *>self.times.at
        cdef const int32_t *row
        cdef int64_t at, length = 0
        cdef uint64_t with_token
        cdef double weight
        cdef int k
        if self.is_tfidf:
            for at in range(start, end):
                length += times[at]
        for at in range(start, end):
            row, with_token = counts + self.width * <Size>places[at], 0
            for k in range(self.label_count):
                self.scorer.row[k] = count_without(row[self.first_count + k], k == left_out)
                with_token += row[k]
            weight = times[at] if self.first_count else 1.0
            if length:
                weight = <double>times[at] / <double>length * self.scorer.weigher.idf(with_token)
            self.scorer.add_row(weight, parts[at])

    cdef void add_grams(self, int64_t start, int64_t end, int left_out) noexcept nogil:
        """Add up the grams of a message, as `add` does its tokens."""
        cdef const int32_t *counts = <const int32_t *>self.gram_counts.at
        cdef const uint32_t *grams = <const uint32_t *>self.grams.at
        cdef const int32_t *row
        cdef int64_t at, size
        cdef int k
        if self.revisions[left_out + 1 if self.label_count == 2 else 0] != NO_REVISION:
            while start < end:
                size = min(<int64_t>MAX_TERMS, end - start)
                if left_out == NO_LABEL:
                    self.gram_weights.add(self.scorer.grams, grams + start, size)
                elif left_out == 0:
                    self.grams_without_first.add(self.scorer.grams, grams + start, size)
                else:
                    self.grams_without_second.add(self.scorer.grams, grams + start, size)
                start += size
            return
        for at in range(start, end):
            row = counts + self.label_count * <Size>grams[at]
            for k in range(self.label_count):
                self.scorer.grams.row[k] = count_without(row[k], k == left_out)
            self.scorer.grams.add_row(1.0, grams[at] >> PART_BIT)

    def change(self, counts, gram_counts, int64_t message, int label, int sign):
        """Add a message to the counts that are open, or subtract it; return how many words and pairs no other has.

        `counts` and `gram_counts` are the arrays that were given before, to be changed.
        """
        cdef Numbers to = Numbers(counts, 4, True), of_grams = Numbers(gram_counts, 4, True)
        cdef int32_t *row
        cdef const uint16_t *times
        cdef const int64_t *starts
        cdef const int32_t *places
        cdef const uint32_t *grams = NULL
        cdef int64_t at, total, words = 0, pairs = 0
        cdef bint is_new
        cdef int k
        is_open = self.starts is not None and to.at is self.counts.at and of_grams.at is self.gram_counts.at
        if not is_open or not 0 <= label < self.label_count:
            raise ValueError("not the counts that are open")
        if not 0 <= message < self.starts.count - 1:
            raise IndexError("no such message")
        with nogil:
            times, places = <const uint16_t *>self.times.at, <const int32_t *>self.places.at
            starts = <const int64_t *>self.starts.at
            for at in range(starts[message], starts[message + 1]):
                row, total = <int32_t *>to.at + self.width * <Size>places[at], 0
                row[label] += sign
                for k in range(self.label_count):
                    total += row[k]
                is_new = total == (sign > 0)  # as no other message has it
                words += is_new and times[at] > 0
                pairs += is_new and times[at] == 0
                if self.first_count:
                    row[self.label_count + label] += sign * <int>times[at]
            if self.has_grams:
                starts, grams = <const int64_t *>self.gram_starts.at, <const uint32_t *>self.grams.at
                for at in range(starts[message], starts[message + 1]):
                    row = <int32_t *>of_grams.at + self.label_count * <Size>grams[at]
                    row[label] += sign
        return words, pairs


cdef inline uint64_t count_without(int32_t count, bint is_left_out) noexcept nogil:
    """Return a count, less one if a message with it is left out."""
    return <uint64_t>(count - (is_left_out & (count > 0)))


cdef bint are_below_64(const int64_t *numbers, Size count, int64_t limit) noexcept nogil:
    cdef Size at
    for at in range(count):
        if not 0 <= numbers[at] < limit:
            return False
    return True
