# Adds messages to a `CountTable`, or subtracts them, and updates all totals; and adds records of a journal.

cdef enum:
    AHEAD = 16  # an entry is prefetched so many entries before it is used
    COUNTED_AT_ONCE = 64  # entries that are looked up, then counted: they stay in the L1 cache
    MAX_STEPS_OF_LESSON = 2  # a message that moves to another label is subtracted from one and added to the other


cdef struct Tally:  # the changes that a message makes to the totals of a table
    int64_t words
    int64_t pairs
    int64_t new_words
    int64_t new_pairs
    int64_t occurrences
    int32_t highest


cdef int count_message(CountTable table, MessageRows rows, Size message, int label, int day, int sign) except -1 nogil:
    """Add a message to the counts of a label (sign 1), or subtract it (sign -1)."""
    count_entries(table, rows, message, label, day, sign)
    return count_grams_of(table, &rows.it, message, label, sign)


cdef int count_entries(CountTable table, MessageRows rows, Size message, int label, int day, int sign) except -1 nogil:
    """Add (sign 1) or subtract (sign -1) the tokens, word pairs and numeric features of a message, not its grams."""
    cdef const int32_t *places = table.places_of(rows, message)
    cdef Tally tally
    if table.highest > MAX_BEFORE_MESSAGE:
        with gil:
            raise OverflowError("the counts of this table are too high to add messages; write it to a file first")
    memset(&tally, 0, sizeof(Tally))
    tally.highest = table.highest
    if places is not NULL:
        count_places(table, &rows.it, places, message, label, day, sign, &tally)
    else:
        count_keys(table, rows, message, label, day, sign, &tally)
    table.presence_totals[label] += tally.words
    table.pair_totals[label] += tally.pairs
    table.occurrence_totals[label] += tally.occurrences
    table.vocabulary += tally.new_words
    table.pair_vocabulary += tally.new_pairs
    table.highest = tally.highest
    table.message_totals[label] += sign
    count_numbers(table, &rows.it.numbers[message * NUMBER_COUNT], label, sign)
    return 0


cdef int count_keys(
    CountTable table, MessageRows rows, Size message, int label, int day, int sign, Tally *tally
) except -1 nogil:
    """Add or subtract a message's entries, found by key; write their numbers to `rows` if it stores them."""
    cdef Size[COUNTED_AT_ONCE] entries
    cdef Rows *it = &rows.it
    cdef Size start = it.starts[message], end = it.starts[message + 1], size, n, slot
    cdef bint is_later = sign > 0 and table.only_day < 0
    cdef bint notes = rows.places is not NULL and rows.owner is table.identity
    while start < end:
        size = min(<Size>COUNTED_AT_ONCE, end - start)
        table.make_entry_room(size)
        table.find_entries(it.fingerprints + start, size, entries)
        for n in range(size):
            if entries[n] < 0:
                slot = table.slot_of_key(it.fingerprints[start + n])
                entries[n] = table.entry_in(slot)  # the same message may have it twice
                if entries[n] < 0:
                    entries[n] = new_entry_of(table, it, start + n, slot, day)
            count_entry(table, entries[n], label, it.times[start + n], sign, tally)
            if is_later:
                table.widen_days(entries[n], day)
            if notes:
                rows.places[start + n] = entries[n]
                rows.place_end = max(rows.place_end, entries[n] + 1)
        start += size
    return 0


cdef Size new_entry_of(CountTable table, const Rows *it, Size at, Size slot, int day) except -1 nogil:
    """Add entry `at` of the rows `it` to `table`, in the free slot `slot`; return its number in the table."""
    cdef Size text = 0, size = 0
    if it.ends is not NULL:
        text = it.ends[at - 1] if at else 0
        size = it.ends[at] - text
    return table.new_entry(it.fingerprints[at], slot, it.letters + text, size, day)


cdef void count_places(
    CountTable table, const Rows *it, const int32_t *places, Size message, int label, int day, int sign, Tally *tally
) noexcept nogil:
    """Add or subtract a message's tokens and pairs; `places`: their entry numbers in the table."""
    cdef Size n, start = it.starts[message], count = it.starts[message + 1] - start
    cdef bint is_later = sign > 0 and table.only_day < 0
    for n in range(count):
        if n + AHEAD < count:
            __builtin_prefetch(table.row_of(places[n + AHEAD]))
        count_entry(table, places[n], label, it.times[start + n], sign, tally)
        if is_later:
            table.widen_days(places[n], day)


cdef inline void count_entry(
    CountTable table, Size entry, int label, int32_t times, int sign, Tally *tally
) noexcept nogil:
    """Add a message to the counts of an entry, or subtract it; add to `tally` how the totals change."""
    cdef int labels = table.label_count
    cdef int32_t *row = table.row_of(entry)
    cdef int64_t before, after, occurrences, is_new, is_word
    if labels == 2:  # a case of its own, as the compiler would keep the loop
        before, occurrences = row[0] + row[1], row[2] + row[3]
    else:
        before, occurrences = sum_of(row, labels), sum_of(row + labels, labels)
    after = before + sign  # from here on, almost no branches, for speed
    is_word = occurrences + sign * times > 0
    if (before > 0) & (after > 0) & (is_word != (occurrences > 0)):
        move_entry(table, row, occurrences > 0)  # a pair has the fingerprint of a word
    is_word |= (after <= 0) & (occurrences > 0)  # the last message of a word is removed: words change
    row[label] += sign
    row[labels + label] += sign * times
    is_new = (after > 0) - (before > 0)
    tally.highest = max(tally.highest, row[labels + label])
    tally.occurrences += sign * times
    tally.words += sign & -is_word
    tally.new_words += is_new & -is_word
    tally.pairs += sign & (is_word - 1)
    tally.new_pairs += is_new & (is_word - 1)


cdef int64_t sum_of(const int32_t *counts, int labels) noexcept nogil:
    cdef int64_t total = 0
    cdef int k
    for k in range(labels):
        total += counts[k]
    return total


cdef void move_entry(CountTable table, const int32_t *row, bint was_word) noexcept nogil:
    """Move the counts `row` from the totals of words to those of pairs if `was_word`; else from pairs to words."""
    cdef int k
    cdef int64_t messages = 0, way = -1 if was_word else 1
    for k in range(table.label_count):
        messages += row[k]
        table.presence_totals[k] += way * row[k]
        table.pair_totals[k] -= way * row[k]
    if messages > 0:
        table.vocabulary += way
        table.pair_vocabulary -= way


cdef void count_numbers(CountTable table, const int64_t *numbers, int label, int sign) noexcept nogil:
    """Add a message's numeric features to the sums of a label (sign 1), or subtract them (sign -1)."""
    cdef Size n
    cdef NumberSums *sums
    cdef uint64_t square, before
    for n in range(NUMBER_COUNT):
        if numbers[n] == MISSING or not sign:
            continue
        sums = &table.sums[n * table.label_count + label]
        square, before = <uint64_t>(numbers[n] * numbers[n]), sums.low_squares
        sums.count += sign
        sums.sum += sign * numbers[n]
        if sign > 0:
            sums.low_squares += square
            sums.high_squares += sums.low_squares < before
        else:
            sums.low_squares -= square
            sums.high_squares -= sums.low_squares > before


cdef int make_grams(CountTable table) except -1 nogil:
    table.grams = <int32_t *>zeros_of(table.gram_bytes())
    return 0


cdef int count_grams_of(CountTable table, const Rows *it, Size message, int label, int sign) except -1 nogil:
    cdef Size n, start = it.gram_starts[message], end = it.gram_starts[message + 1], labels = table.label_count
    cdef int32_t *counts
    if start == end or not sign:
        return 0
    if table.grams is NULL:
        make_grams(table)
    counts = table.grams + label
    for n in range(start, end):
        counts[it.grams[n] * labels] += sign
    return 0


# Records of a journal: lessons

cdef struct Lesson:  # how learning or forgetting one message changes the counts, as a journal records it
    Text words  # fingerprints, 64 bits each
    Text occurrences  # 16 bits each
    Text texts  # each with a newline behind it
    Text pairs
    Text grams  # counters, 32 bits each
    int steps
    int[MAX_STEPS_OF_LESSON] labels
    int[MAX_STEPS_OF_LESSON] signs
    int day


cdef int set_lesson(
    Lesson *lesson, bytes fingerprints, bytes occurrences, bytes texts, bytes pairs, bytes grams, list steps, int day,
    int label_count
) except -1:
    """Fill `lesson` (a journal record); `steps`: pairs of a label's index and 1 (add) or -1 (subtract)."""
    if len(steps) > MAX_STEPS_OF_LESSON or not 0 <= day <= MAX_DAY:
        raise ValueError("a lesson can have at most 2 steps, and its day must be from 0 to 65535")
    lesson.words, lesson.pairs, lesson.grams = text_of(fingerprints), text_of(pairs), text_of(grams)
    lesson.occurrences, lesson.texts = text_of(occurrences), text_of(texts)
    lesson.day, lesson.steps = day, 0
    for label_index, sign in steps:
        if not 0 <= label_index < label_count or sign not in (1, -1):
            raise ValueError("each step needs the index of a label, and a sign of 1 or -1")
        lesson.labels[lesson.steps], lesson.signs[lesson.steps] = label_index, sign
        lesson.steps += 1
    return check_lesson(lesson)


cdef int check_lesson(Lesson *lesson) except -1:
    """Raise ValueError if the fields of a lesson (a journal record) do not fit together."""
    cdef Size words = lesson.words.size // 8, n
    if lesson.words.size % 8 or lesson.pairs.size % 8 or lesson.grams.size % 4 or lesson.occurrences.size != 2 * words:
        raise ValueError("each token of a lesson needs a number of occurrences")
    if count_byte(lesson.texts, 10) != words:
        raise ValueError("each token of a lesson needs a text")
    for n in range(lesson.grams.size // 4):
        if four_at(lesson.grams.at + 4 * n) >= COUNTERS:
            raise ValueError("a gram counter of a lesson has a number above the highest one")
    return 0


cdef int count_lesson(CountTable table, Lesson *lesson) except -1 nogil:
    """Apply a lesson (a journal record) to a table: change the counts of its words, word pairs and grams."""
    cdef Size n, end, text = 0
    cdef const Byte *letters = lesson.texts.at
    cdef Text empty = nothing()
    for n in range(lesson.words.size // 8):
        end = find_byte(lesson.texts, 10, text)
        change_row(table, lesson, eight_at(lesson.words.at + 8 * n), piece(lesson.texts, text, end),
                   number_at(lesson.occurrences.at + 2 * n, 2))
        text = end + 1
    for n in range(lesson.pairs.size // 8):
        change_row(table, lesson, eight_at(lesson.pairs.at + 8 * n), empty, 0)
    if lesson.grams.size and table.grams is NULL:
        make_grams(table)
    for n in range(lesson.grams.size // 4):
        for end in range(lesson.steps):
            table.grams[four_at(lesson.grams.at + 4 * n) * table.label_count + lesson.labels[end]] += lesson.signs[end]
    return 0


cdef int change_row(CountTable table, Lesson *lesson, uint64_t key, Text text, int32_t times) except -1 nogil:
    """Apply a lesson (a journal record) to the counts of a word, or of a word pair (then `times` is 0)."""
    cdef Size entry = table.entry_or_new(key, text.at, text.size, lesson.day)
    cdef int32_t *row = table.row_of(entry)
    cdef int step
    table.widen_days(entry, lesson.day)
    for step in range(lesson.steps):
        row[lesson.labels[step]] += lesson.signs[step]
        row[table.label_count + lesson.labels[step]] += lesson.signs[step] * times
        table.highest = max(table.highest, row[table.label_count + lesson.labels[step]])
    return 0


# Histogram: how many words have the same counts

cdef inline Size hash_of_row(const int32_t *row, int labels, int bits) noexcept nogil:
    """Return a hash, `bits` bits long, of a word's counts of messages by label."""
    cdef uint64_t hash = 0
    cdef int k
    for k in range(labels):
        hash = (hash ^ <uint32_t>row[k]) * TABLE_FACTOR
        hash ^= hash >> 32
    return hash * TABLE_FACTOR >> (64 - bits)


cdef Size count_kinds(CountTable table, uint32_t *firsts, int64_t *sizes, int bits) noexcept nogil:
    """Group words with equal counts of messages; return the number of groups, or NOWHERE if they do not fit.

    Fewer than half of 2^`bits` slots may be used: `firsts` gets a word's number + 1, `sizes` a group's size.
    """
    cdef Size n, k, at, labels = table.label_count, kinds = 0, last = (<Size>1 << bits) - 1
    cdef const int32_t *row
    cdef int64_t messages, occurrences
    for n in range(table.used):
        row, messages, occurrences = table.row_of(n), 0, 0
        for k in range(labels):
            messages += row[k]
            occurrences += row[labels + k]
        if messages <= 0 or occurrences <= 0:
            continue
        at = hash_of_row(row, labels, bits)
        while firsts[at] and memcmp(table.row_of(firsts[at] - 1), row, labels * sizeof(int32_t)):
            at = (at + 1) & last
        if not firsts[at]:
            firsts[at] = n + 1
            kinds += 1
            if 2 * kinds > last:
                return NOWHERE
        sizes[at] += 1
    return kinds
