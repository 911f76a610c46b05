# Numeric features of a message: whole numbers, so that their sums can be subtracted again exactly.
#
# A feature is MISSING where a message does not have what it measures. Lengths are in characters.

from libc.math cimport log2, rint

cdef enum:
    MISSING = -1
    MAX_COUNT = 100  # of links, recipients or exclamation marks; a higher number becomes this

cdef enum:  # places in `Features.numbers`, in the order of NUMBERS
    SIZE_NUMBER = 0
    CAPITALS_NUMBER
    DIGITS_NUMBER
    EXCLAMATIONS_NUMBER
    HTML_NUMBER
    LINKS_NUMBER
    RECIPIENTS_NUMBER
    HOUR_NUMBER


cdef struct CharCounts:
    Size all
    Size capitals
    Size letters  # capitals and small letters
    Size digits
    Size exclamations


cdef int numbers_of(Mail *mail, Page *pages, Size page_count, Texts *texts, int64_t *numbers) noexcept nogil:
    """Write to `numbers` the numeric features of `mail`, its rendered HTML `pages`, its visible `texts`."""
    cdef CharCounts chars
    cdef Size n, size = 0, html = 0, links = 0
    cdef Field *date
    memset(&chars, 0, sizeof(CharCounts))
    for n in range(NUMBER_COUNT):
        numbers[n] = MISSING
    for n in range(mail.leaf_count):
        size += mail.leaves[n].size
    if size:
        numbers[SIZE_NUMBER] = <int64_t>rint(10 * log2(size))  # tenths of a doubling: sizes spread over six decades
    for n in range(texts.count):
        add_chars(&chars, texts.items[n])
        links += count_addresses(texts.items[n])
    for n in range(page_count):
        html += count_chars(pages[n].text)
        links += pages[n].links.count
    if chars.all:
        if chars.letters:
            numbers[CAPITALS_NUMBER] = 1000 * chars.capitals // chars.letters  # per mille
        numbers[DIGITS_NUMBER] = 1000 * chars.digits // chars.all
        numbers[EXCLAMATIONS_NUMBER] = min(chars.exclamations, <Size>MAX_COUNT)
        numbers[HTML_NUMBER] = 1000 * html // chars.all
        numbers[LINKS_NUMBER] = min(links, <Size>MAX_COUNT)
    numbers[RECIPIENTS_NUMBER] = recipients_of(&mail.head)
    date = first_field(mail.head.fields, mail.head.count, b"date")
    numbers[HOUR_NUMBER] = hour_of(date.value) if date is not NULL else MISSING
    return 0


cdef void add_chars(CharCounts *counts, Text text) noexcept nogil:
    """Count all characters, capitals, letters, digits and exclamation marks of a text; add to `counts`."""
    cdef Size capitals = count_range(text.at, text.size, 65, 26)
    counts.all += count_chars(text)
    counts.capitals += capitals
    counts.letters += capitals + count_range(text.at, text.size, 97, 26)
    counts.digits += count_range(text.at, text.size, 48, 10)
    counts.exclamations += count_byte(text, 33)
    if not is_ascii(text):
        add_other_chars(counts, text)


cdef void add_other_chars(CharCounts *counts, Text text) noexcept nogil:
    """Add the capitals, letters, digits and "！" beyond ASCII to `counts`; `counts.all` has them already."""
    cdef Size at = 0
    cdef Char char
    while at < text.size:
        char = char_at(text, at, &at)
        if char >= 0x80:
            counts.capitals += Py_UNICODE_ISUPPER(char)
            counts.letters += Py_UNICODE_ISUPPER(char) or Py_UNICODE_ISLOWER(char)
            counts.digits += Py_UNICODE_ISDECIMAL(char)
            counts.exclamations += char == 0xFF01  # "！"


cdef Size count_addresses(Text text) noexcept nogil:
    """Return how many web addresses a text contains, counted by their "://"."""
    cdef Size at = find(text, literal(b"://"), 0), found = 0
    while at >= 0:
        found += 1
        at = find(text, literal(b"://"), at + 3)
    return found


cdef int recipients_of(HeaderBlock *head) noexcept nogil:
    """Return how many "@" To and Cc have, at most MAX_COUNT; MISSING if the message has neither header."""
    cdef Size n, found = MISSING
    for n in range(head.count):
        if is_(head.fields[n].name, b"to") or is_(head.fields[n].name, b"cc"):
            found = max(found, <Size>0) + count_byte(head.fields[n].value, 64)  # "@"
    return min(found, <Size>MAX_COUNT)


cdef int hour_of(Text date) noexcept nogil:
    """Return the local hour in a date: 1 in `Sun, 15 Nov 2026 01:02:03 +0100`; MISSING if there is none."""
    cdef Size colon = find_byte(date, 58, 0), at
    cdef Text hour = without_white(piece(date, char_before(date, char_before(date, colon)), colon))
    cdef int number = 0
    for at in range(hour.size):
        if not is_digit(byte_at(hour, at)):
            return MISSING
        number = 10 * number + byte_at(hour, at) - 48
    return number if hour.size and number < 24 else MISSING
