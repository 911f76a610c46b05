# Scores messages with the counts of a model: one with its evidence, many, each without its own counts, or online.
#
# The words and pairs of a message are collected, some at a time; their rows of counts are looked up (`Counts.find`), or
# read at known places of a table; the counts that the view uses are copied to an array for each label, `columns`. All
# ways to score add up these columns in the same way. A scorer belongs to one thread; threads may share counts as long
# as no thread changes them.

cdef enum:
    NO_REVISION = -1
    WORTH_ALL_GRAMS = 200  # with so many messages or more, the weights of all grams are computed beforehand, in 1.5 ms
    MAX_COLLECTED = 1 << 18  # counts that are looked up at once; pages of memory that no message needs stay unused


cdef class FeatureScorer:
    """Scores messages by counts and a view. Two threads must not share a scorer; `another` makes one more."""

    cdef readonly object likelihood, settings
    cdef readonly Counts counts
    cdef CountTable table  # `counts` if it is a table, else None
    cdef Scorer scorer
    cdef int label_count
    cdef Size width  # numbers in a row of counts
    cdef bint reads_words, reads_pairs, reads_grams, reads_numbers, is_tfidf, splits_parts, is_used
    cdef object given_weights, words  # the weights given to __init__; what `reader` refers to
    # Weights of all grams: by all counts, and by counts without one message of the first or of the second label.
    cdef GramWeights gram_weights, grams_without_first, grams_without_second
    cdef int64_t[3] revisions  # the weigher's revision when each of these was computed
    cdef Size room, collected  # how many words and pairs fit into the arrays below, and how many are there
    cdef readonly Size new_words, new_pairs  # words and pairs of the last message that no learned message has
    cdef uint64_t *keys
    cdef int64_t *rows
    cdef uint64_t *columns  # [label][room]: the counts that the view uses
    cdef uint64_t *with_token  # for tf-idf: learned messages of all labels that have the token
    cdef uint32_t *times
    cdef Byte *parts
    cdef int64_t *gram_rows
    cdef int64_t length, own_tokens, own_unique  # tokens of the message; `subtract_own` explains the others
    cdef list strong, strong_among_others  # the evidence that `evidence` returns, else None
    cdef bint keeps_evidence, has_reader
    cdef Reader reader

    def __cinit__(self, *_, **__):
        self.revisions = [NO_REVISION, NO_REVISION, NO_REVISION]

    def __init__(self, likelihood, Counts counts not None, gram_weights=None, settings=None):
        """Prepare to score with `counts`, by the view of `likelihood` (a Likelihood).

        `gram_weights`: the weights of all grams, if already computed. `settings`: tokenizer settings, for `score_raw`.
        """
        view, self.likelihood, self.settings, self.scorer = likelihood.view, likelihood, settings, Scorer(likelihood)
        self.label_count, self.counts = self.scorer.label_count, counts
        if self.room or counts.label_count != self.label_count or not self.label_count:
            raise ValueError("counts and likelihood must have the same number of labels, at least one")
        self.table = counts if isinstance(counts, CountTable) else None
        self.reads_words, self.reads_pairs = view.event != "gaussian", view.pairs
        self.reads_grams, self.reads_numbers = self.scorer.grams is not None, view.numbers
        self.is_tfidf, self.splits_parts, self.given_weights = view.tfidf, view.split_head_body, gram_weights
        if gram_weights is not None and self.reads_grams:
            self.gram_weights, self.revisions[0] = gram_weights, self.scorer.grams.weigher.revision
            self.is_used = True
            likelihood.keep_logarithms()
        self.make_room()

    cdef int make_room(self) except -1:
        """Allocate the arrays in which words and word pairs are collected."""
        cdef Size room = max(<Size>AT_ONCE, MAX_COLLECTED // (2 * self.label_count))
        self.width = 2 * self.label_count
        self.keys = <uint64_t *>memory_of(NULL, room * sizeof(uint64_t))
        self.rows = <int64_t *>memory_of(NULL, room * self.width * sizeof(int64_t))
        self.columns = <uint64_t *>memory_of(NULL, room * self.label_count * sizeof(uint64_t))
        self.with_token = <uint64_t *>memory_of(NULL, room * sizeof(uint64_t))
        self.times = <uint32_t *>memory_of(NULL, room * sizeof(uint32_t))
        self.parts = <Byte *>memory_of(NULL, room)
        self.gram_rows = <int64_t *>memory_of(NULL, MAX_TERMS * self.label_count * sizeof(int64_t))
        self.room = room
        return 0

    def __dealloc__(self):
        free(self.keys)
        free(self.rows)
        free(self.columns)
        free(self.with_token)
        free(self.times)
        free(self.parts)
        free(self.gram_rows)
        if self.has_reader:
            free_reader(&self.reader)

    def another(self):
        """Return a scorer with the same counts, for another thread."""
        return FeatureScorer(self.likelihood, self.counts, self.given_weights, self.settings)

    # One message

    def score(self, FeatureSet features not None):
        """Return two lists for a message: log-joints by label, and mean weights as [body, head][label]."""
        cdef double[MAX_COLUMNS] joint
        cdef double[2 * MAX_COLUMNS] parts
        self.keep_logarithms_if_used()
        with nogil:
            self.score_features(&features.it, joint, parts)
        return self.score_lists(joint, parts)

    def evidence(self, FeatureSet features not None):
        """Return the lists of `score`, the evidence on spam, that on the other labels, and `repeat_gain`.

        Each item of evidence is a tuple: (fingerprint, counts, how often it is used, weights by label, HEAD or BODY).
        """
        self.keeps_evidence, self.strong, self.strong_among_others = True, [], []
        try:
            joint, parts = self.score(features)
            gain = self.scorer.gain_of_repeated_spam() if self.scorer.spam != NO_LABEL else 0.0
            return joint, parts, self.strong, self.strong_among_others, gain
        finally:
            self.keeps_evidence, self.strong, self.strong_among_others = False, None, None

    def score_raw(self, list messages not None):
        """Read and score raw messages (bytes); return a list with the result of `score` for each message."""
        cdef Size count = len(messages), n, width = 3 * self.label_count
        cdef Text *texts = <Text *>memory_of(NULL, count * sizeof(Text) + 1)
        cdef double *found = NULL
        try:
            found = <double *>memory_of(NULL, width * count * sizeof(double) + 1)
            if not self.has_reader:
                self.words = start_reader(&self.reader, self.settings)
                self.has_reader = True
            self.keep_logarithms_if_used()
            for n in range(count):
                texts[n] = text_of(messages[n])
            with nogil:
                for n in range(count):
                    read_features(&self.reader, texts[n], self.reads_numbers, NULL)
                    self.score_features(&self.reader.features, found + width * n, found + width * n + self.label_count)
            return [
                self.score_lists(found + width * n, found + width * n + self.label_count) for n in range(count)
            ]
        finally:
            free(texts)
            free(found)

    cdef int keep_logarithms_if_used(self) except -1:
        """Store logarithms of low counts, from the second call on: this takes as long as one message."""
        if self.is_used:
            self.likelihood.keep_logarithms()
        self.is_used = True
        return 0

    cdef tuple score_lists(self, const double *joint, const double *parts):
        """Convert C arrays of log-joints, and of mean weights of body and head, to the lists that `score` returns."""
        cdef int k, part
        return (
            [joint[k] for k in range(self.label_count)],
            [[parts[part * self.label_count + k] for k in range(self.label_count)] for part in range(2)]
            if self.scorer.is_averaged else [],
        )

    cdef int score_features(self, Features *features, double *joint, double *parts) except -1 nogil:
        """Write a message's log-joints to `joint`, mean weights in body and head to `parts` unless NULL."""
        cdef Size at
        self.scorer.start_message()
        self.length = self.new_words = self.new_pairs = 0
        if self.is_tfidf:
            for at in range(features.tokens.used):
                self.length += features.tokens.entries[at].times
        if self.reads_words:
            self.collect_entries(&features.tokens)
        if self.reads_pairs:
            self.collect_entries(&features.pairs)
        self.find_and_add()
        if self.reads_grams:
            self.add_grams(features.grams, features.gram_count, NO_LABEL)
        return self.compute_score(features.numbers, joint, parts)

    cdef int collect_entries(self, EntryTable *table) except -1 nogil:
        """Collect tokens or word pairs in arrays; whenever these are full, add the weights and empty them."""
        cdef Size at
        for at in range(table.used):
            self.keys[self.collected] = table.entries[at].fingerprint
            self.times[self.collected] = table.entries[at].times
            self.parts[self.collected] = table.entries[at].part | (table.entries[at].times == 0) << 1
            self.collected += 1
            if self.collected == self.room:
                self.find_and_add()
        return 0

    cdef int find_and_add(self) except -1 nogil:
        """Look up the collected words and word pairs, add their weights, and empty the collection."""
        self.find_collected()
        self.add_collected()
        self.collected = 0
        return 0

    cdef int compute_score(self, const int64_t *numbers, double *joint, double *parts) except -1 nogil:
        """Write log-joints, those of `numbers` added unless NULL, and mean weights (`parts`) unless NULL."""
        self.scorer.compute_joint(joint)
        if parts is not NULL:
            self.scorer.compute_means(parts)
        if self.reads_numbers and numbers is not NULL:
            with gil:
                self.add_numbers(numbers, joint)
        return 0

    cdef int add_numbers(self, const int64_t *numbers, double *joint) except -1:
        cdef int n, k
        known = {NUMBERS[n]: numbers[n] for n in range(NUMBER_COUNT) if numbers[n] >= 0}
        for item in self.likelihood.numeric_evidence(known):
            for k in range(self.label_count):
                joint[k] += <double>item.weights[k]
        return 0

    # Rows of counts

    cdef int find_collected(self) except -1 nogil:
        """Look up the collected words and word pairs, and copy those counts that the view uses to `columns`."""
        cdef Size at, k, first = self.label_count if self.scorer.weigher.is_multinomial else 0
        cdef const int64_t *row = self.rows
        if not self.collected:
            return 0
        self.counts.find(self.keys, self.collected, self.rows)
        if self.label_count == 2 and not self.is_tfidf:
            return self.copy_found_of_two(first)
        for at in range(self.collected):
            self.with_token[at] = 0
            for k in range(self.label_count):
                self.columns[k * self.room + at] = limited_count(row[first + k])
                self.with_token[at] += limited_count(row[k])
            if not self.with_token[at]:
                self.new_words += self.times[at] > 0
                self.new_pairs += self.times[at] == 0
            row += self.width
        return 0

    cdef int copy_found_of_two(self, Size first) noexcept nogil:
        """Copy two labels' counts from `rows` to `columns`, and count new words and pairs; branch-free."""
        cdef const int64_t *row = self.rows
        cdef uint64_t *columns = self.columns
        cdef uint64_t *others = self.columns + self.room
        cdef Size at, is_new, words = 0, entries = 0
        for at in range(self.collected):
            columns[at], others[at] = limited_count(row[4 * at + first]), limited_count(row[4 * at + first + 1])
            is_new = (row[4 * at] <= 0) & (row[4 * at + 1] <= 0)
            entries += is_new
            words += is_new & (self.times[at] > 0)
        self.new_words += words
        self.new_pairs += entries - words
        return 0

    cdef int collect_rows(self, const Rows *rows, const int32_t *places, Size start, Size end) except -1 nogil:
        """Collect entries `start` to `end` and their counts; `places`: numbers in the table, or NULL."""
        cdef Size at, taken = 0
        if places is not NULL and self.reads_pairs and self.scorer.is_of_two:
            self.collected = end - start
            self.read_places_of_two(places + start)
            memcpy(self.parts, rows.parts + start, self.collected)
            return 0
        for at in range(start, end):
            self.keys[taken] = <uint64_t>places[at] if places is not NULL else rows.fingerprints[at]
            self.times[taken], self.parts[taken] = rows.times[at], rows.parts[at]
            taken += self.reads_words if rows.times[at] else self.reads_pairs
        self.collected = taken
        return self.read_places() if places is not NULL else self.find_collected()

    cdef void read_places_of_two(self, const int32_t *places) noexcept nogil:
        """Copy two labels' counts to `columns`; `places` has the numbers of the entries in the table."""
        cdef const int32_t *row
        cdef const uint64_t *rows = self.table.records + 1
        cdef uint64_t *columns = self.columns
        cdef uint64_t *others = self.columns + self.room
        cdef Size at, last = self.collected - 1, stride = self.table.stride
        for at in range(self.collected):
            __builtin_prefetch(rows + stride * places[min(at + AHEAD, last)])
            row = <const int32_t *>(rows + stride * places[at])
            columns[at], others[at] = max(row[0], 0), max(row[1], 0)

    cdef int read_places(self) noexcept nogil:
        """Copy counts of all labels to `columns`; `self.keys` has the numbers of the entries in the table."""
        cdef const int32_t *row
        cdef Size at, k, first = self.label_count if self.scorer.weigher.is_multinomial else 0
        for at in range(self.collected):
            __builtin_prefetch(self.table.row_of(self.keys[min(at + AHEAD, self.collected - 1)]))
            row = self.table.row_of(self.keys[at])
            self.with_token[at] = 0
            for k in range(self.label_count):
                self.columns[k * self.room + at] = max(row[first + k], 0)
                self.with_token[at] += max(row[k], 0)
        return 0

    # Adding up

    cdef int add_collected(self) except -1 nogil:
        """Add the weights of the collected words and word pairs, whose counts are in `columns`."""
        cdef Size at, k
        cdef double times
        cdef int strong
        if self.scorer.is_of_two and not self.keeps_evidence:
            self.scorer.compare_all(self.columns, self.columns + self.room, self.parts, self.collected)
            return 0
        for at in range(self.collected):
            for k in range(self.label_count):
                self.scorer.row[k] = self.columns[k * self.room + at]
            times = self.times[at] if self.scorer.weigher.is_multinomial else 1.0
            if self.is_tfidf and self.length:
                times = <double>self.times[at] / <double>self.length * self.scorer.weigher.idf(self.with_token[at])
            strong = self.scorer.add_row(times, self.parts[at])
            if strong and self.keeps_evidence:
                with gil:
                    self.add_evidence(at, times, strong)
        return 0

    cdef int add_evidence(self, Size at, double times, int strong) except -1:
        """Append the word or pair at index `at` to the lists of evidence that the flags `strong` name."""
        cdef Size k, size = self.width if self.times[at] else self.label_count
        cdef const int64_t *counts = self.rows + self.width * at
        cdef object often = <int64_t>times
        row = tuple([counts[k] for k in range(size)])
        if self.is_tfidf:
            often = times
        cdef int part = self.parts[at] & 1 if self.splits_parts else 0
        if strong & STRONG:
            self.strong.append((self.keys[at], row, often, self.scorer.evidence_weights(), part))
        if strong & STRONG_AMONG_OTHERS:
            share = share_of_token(sum(row[: self.label_count]))
            weights = [share * weight for weight in self.scorer.weigher.weights(row)]
            self.strong_among_others.append((self.keys[at], row, often, weights, part))
        return 0

    cdef int add_grams(self, const uint32_t *counters, Size count, int left_out) except -1 nogil:
        """Add the weights of grams; `left_out`: label to subtract the message from first, or NO_LABEL."""
        cdef int64_t revision = self.scorer.grams.weigher.revision
        cdef bint is_weighed = self.scorer.is_of_two and self.revisions[left_out + 1] == revision
        cdef Size start = 0, size
        while start < count:
            size = min(<Size>MAX_TERMS, count - start)
            if not is_weighed:
                self.find_grams(counters + start, size, left_out)
            elif left_out == NO_LABEL:
                self.gram_weights.add(self.scorer.grams, counters + start, size)
            elif left_out == 0:
                self.grams_without_first.add(self.scorer.grams, counters + start, size)
            else:
                self.grams_without_second.add(self.scorer.grams, counters + start, size)
            start += size
        return 0

    cdef int find_grams(self, const uint32_t *counters, Size size, int left_out) except -1 nogil:
        """Look up at most MAX_TERMS grams, and add their weights; `left_out`: as in `add_grams`."""
        cdef Size at, k
        cdef const int64_t *row = self.gram_rows
        if self.scorer.is_of_two:
            self.copy_grams_of_two(counters, size, left_out)
            self.scorer.grams.compare_all(self.columns, self.columns + self.room, self.parts, size)
            return 0
        self.counts.find_grams(counters, size, self.gram_rows)
        for at in range(size):
            for k in range(self.label_count):
                self.scorer.grams.row[k] = count_without(limited_count(row[k]), k == left_out)
            self.scorer.grams.add_row(1.0, counters[at] >> PART_BIT & 1)
            row += self.label_count
        return 0

    cdef int copy_grams_of_two(self, const uint32_t *counters, Size size, int left_out) except -1 nogil:
        """Copy two labels' counts of grams to `columns`, and HEAD or BODY for each gram to `parts`."""
        cdef const int64_t *row = self.gram_rows
        cdef const int32_t *grams = NULL if self.table is None else self.table.grams
        cdef uint64_t *columns = self.columns
        cdef uint64_t *others = self.columns + self.room
        cdef Byte *parts = self.parts
        cdef Size at, first = left_out == 0, second = left_out == 1
        if grams is NULL:
            self.counts.find_grams(counters, size, self.gram_rows)
            for at in range(size):
                columns[at], others[at] = limited_count(row[2 * at]), limited_count(row[2 * at + 1])
        else:  # reading the table here takes half the time of `find_grams`
            for at in range(size):
                columns[at] = max(grams[2 * <Size>(counters[at] & (COUNTERS - 1))], 0)
                others[at] = max(grams[2 * <Size>(counters[at] & (COUNTERS - 1)) + 1], 0)
        for at in range(size):
            columns[at], others[at] = count_without(columns[at], first), count_without(others[at], second)
            parts[at] = counters[at] >> PART_BIT & 1
        return 0

    # Many messages

    def score_rows(self, MessageRows rows not None, messages, joints, parts=None):
        """Write messages' log-joints to `joints`[message, label], and mean weights to `parts`[message, part, label]."""
        self.score_all(rows, messages, None, joints, parts)

    def score_left_out(self, MessageRows rows not None, messages, label_indices, joints):
        """Write to `joints` the log-joints of learned messages, each as if it had not been learned.

        `label_indices`: the labels they are learned as. Raise ValueError for a view without cutoffs.
        """
        if self.label_count < 2 or not self.likelihood.view.has_cutoffs:
            raise ValueError("to leave out messages, use a view with cutoffs, and two labels or more")
        self.score_all(rows, messages, label_indices, joints, None)

    def score_online(self, MessageRows rows not None, order, label_indices, joints, parts=None):
        """Write the scores of messages as `score_rows` does, but add each message to the counts after scoring it."""
        cdef ScoredRows it = ScoredRows(rows, self.label_count, order, label_indices, joints, parts)
        if self.table is None:
            raise TypeError("to learn messages, the counts must be a CountTable")
        self.likelihood.keep_logarithms()
        self.table.start_change()
        try:
            learn_online(self, rows, it)
        finally:
            self.table.is_busy = False
            self.likelihood.update(self.table)

    cdef int score_all(self, MessageRows rows, messages, label_indices, joints, parts) except -1:
        """Write the scores of messages; if there are `label_indices`, each as if it had not been learned."""
        cdef ScoredRows it = ScoredRows(rows, self.label_count, messages, label_indices, joints, parts)
        cdef bint leaves_out = label_indices is not None
        cdef Size at
        self.likelihood.keep_logarithms()
        if not leaves_out:
            self.gram_weights = self.weighed_grams(self.gram_weights, it.count, NO_LABEL)
        else:
            self.grams_without_first = self.weighed_grams(self.grams_without_first, it.count, 0)
            self.grams_without_second = self.weighed_grams(self.grams_without_second, it.count, 1)
        with nogil:
            for at in range(it.count):
                self.score_message(rows, it, at, <int>it.labels[at] if leaves_out else NO_LABEL)
        return 0

    cdef int score_message(self, MessageRows rows, ScoredRows it, Size number, int left_out) except -1 nogil:
        """Write the scores of the message at index `number` of `it`; `left_out` as in `add_grams`."""
        cdef Size message = it.messages[number], start, end
        cdef const int64_t *numbers = NULL  # of messages left out they are not read
        self.scorer.start_message()
        self.add_entries(rows, message, left_out)
        if self.reads_grams:
            start, end = rows.it.gram_starts[message], rows.it.gram_starts[message + 1]
            self.add_grams(rows.it.grams + start, end - start, left_out)
        if left_out == NO_LABEL:
            numbers = rows.it.numbers + message * NUMBER_COUNT
        return self.compute_score(numbers, it.joint_of(number), it.parts_of(number))

    cdef int add_entries(self, MessageRows rows, Size message, int left_out) except -1 nogil:
        """Add the weights of a message's words and word pairs; `left_out` as in `add_grams`."""
        cdef Size first = rows.it.starts[message], end = rows.it.starts[message + 1], at = first
        cdef const int32_t *places = NULL if self.table is None else self.table.places_of(rows, message)
        places = places - first if places is not NULL else NULL
        self.length = self.own_tokens = self.own_unique = 0
        if self.is_tfidf:
            for at in range(first, end):
                self.length += rows.it.times[at]
        at = first
        while left_out != NO_LABEL and at < end:
            self.collect_rows(&rows.it, places, at, min(at + self.room, end))
            self.subtract_own(left_out)
            at += self.room
        if left_out != NO_LABEL:
            self.leave_out(left_out)
        at = first
        while at < end:
            if left_out == NO_LABEL or end - first > self.room:
                self.collect_rows(&rows.it, places, at, min(at + self.room, end))
                if left_out != NO_LABEL:
                    self.subtract_own(left_out)
            self.add_collected()
            at += self.room
        self.collected = 0
        return 0

    # One message left out

    cdef void subtract_own(self, int label_index) noexcept nogil:
        """Subtract the message itself from the collected counts of its label (`label_index`).

        Add to `own_tokens` how many of the tokens are learned, to `own_unique` how many only by this message.
        """
        cdef uint64_t *own = self.columns + label_index * self.room
        cdef const uint64_t *other
        cdef uint64_t others
        cdef Size at, k, tokens = 0, unique = 0
        if self.label_count == 2:
            other = self.columns + (1 - label_index) * self.room
            for at in range(self.collected):
                tokens += (own[at] | other[at]) > 0
                unique += (own[at] == 1) & (other[at] == 0)
                own[at] = count_without(own[at], True)
        else:
            for at in range(self.collected):
                others = 0
                for k in range(self.label_count):
                    others += self.columns[k * self.room + at] if k != label_index else 0
                tokens += (own[at] | others) > 0
                unique += (own[at] == 1) & (others == 0)
                own[at] = count_without(own[at], True)
        self.own_tokens += tokens
        self.own_unique += unique

    cdef void leave_out(self, int label_index) noexcept nogil:
        """Set the denominators as if the message, whose label is `label_index`, had not been learned."""
        cdef int64_t[MAX_COLUMNS] totals
        memcpy(totals, self.scorer.weigher.label_totals, sizeof(totals))
        totals[label_index] -= self.own_tokens
        self.scorer.weigher.set_denominators(
            totals, self.scorer.weigher.vocabulary - self.own_unique, self.scorer.log_denominators)
        if self.reads_grams:
            leave_out_of_grams(self.scorer.grams, label_index)

    cdef GramWeights weighed_grams(self, GramWeights known, Size messages, int left_out):
        """Return the weights of all grams: `known` if still valid; None if unused or not worth the time."""
        if not self.reads_grams or not self.scorer.is_of_two:
            return None
        if self.revisions[left_out + 1] == self.scorer.grams.weigher.revision:
            return known
        self.revisions[left_out + 1] = NO_REVISION
        if messages < WORTH_ALL_GRAMS:
            return None
        known = weighed(self.scorer.grams, self.counts, left_out)
        self.revisions[left_out + 1] = self.scorer.grams.weigher.revision
        return known
