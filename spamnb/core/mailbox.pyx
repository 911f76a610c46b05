# Splits an mbox, which is read as a stream, into its messages.
#
# A message starts at a `From ` line with a date (the envelope line) that follows an empty line; newer versions of
# Thunderbird write nothing after `From `. A Content-Length is not believed. Any dialect: lines may end with CRLF, and
# one `>` is taken off lines of `>`s and `From ` (mboxrd; mboxo is taken for it).
#
# Time is linear: each line end is read once. Memory is bounded: one message and one block of the stream; bytes of a
# message above MAX_MESSAGE are skipped.

cdef enum:
    MAX_MESSAGE = 64 << 20  # bytes of a message that are kept; larger than any mail server accepts by default
    MAX_ENVELOPE = 1000  # bytes of an envelope line; RFC 5322 allows lines of 998
    MAX_HEADER = 16 << 10  # bytes searched for the mark of a deleted message
    FIRST_BUFFER = 1 << 19  # bytes
    NEWLINE = 10
    RETURN = 13
    QUOTE_MARK = 62  # ">"


# Envelope lines

cdef inline bint is_one_of_words(Text word, const char *words) noexcept nogil:
    """Return whether `word` is one of `words`: three letters each, without spaces, as in "MonTueWed"."""
    cdef Size at
    if word.size != 3:
        return False
    for at in range(0, <Size>strlen(words), 3):
        if memcmp(word.at, words + at, 3) == 0:
            return True
    return False


cdef bint is_time(Text word) noexcept nogil:
    """Return whether a word is a time such as 23:59:59: digits with colons between them."""
    cdef Size at, digits = 0, colons = 0
    if word.size > 8:
        return False
    for at in range(word.size):
        digits += is_digit(byte_at(word, at))
        colons += byte_at(word, at) == 58
    return digits and colons and digits + colons == word.size


cdef bint begins_with_field(Text text) noexcept nogil:
    """Return whether a text begins with a header field: letters, digits and hyphens before a colon."""
    cdef Size at, letters = 0
    cdef int byte
    for at in range(text.size):
        byte = byte_at(text, at)
        if is_letter(byte) or is_digit(byte):
            letters += 1
        elif byte != 45:
            return byte == 58 and letters > 0
    return False


cdef bint ends_as_envelope(Text text) noexcept nogil:
    """Return whether a `From ` line has weekday, month and time, or nothing more and a header field below."""
    cdef Size end, at = 5
    cdef bint has_day = False, has_month = False
    cdef Text line, word
    text = piece(text, 0, MAX_ENVELOPE)
    end = find_byte(text, NEWLINE, 0)
    if end < 0 and text.size >= MAX_ENVELOPE:
        return False
    line = piece(text, 0, or_end(text, end))
    if without_space(rest(line, at)).size == 0:
        return end >= 0 and begins_with_field(rest(text, end + 1))
    while next_of(line, b" \t\v\f\r", &at, &word):
        if not has_day:
            has_day = is_one_of_words(stripped(word, b","), b"MonTueWedThuFriSatSun")
        elif not has_month:
            has_month = is_one_of_words(word, b"JanFebMarAprMayJunJulAugSepOctNovDec")
        elif is_time(word):
            return True
    return False


# Messages

cdef bint follows_empty_line(Text data, Size line_end) noexcept nogil:
    """Return whether the line that ends at this offset is empty."""
    cdef int before = byte_at(data, line_end - 1)
    return before == NEWLINE or (before == RETURN and byte_at(data, line_end - 2) == NEWLINE)


cdef Size from_line(Text data, Size at, bint *is_quoted) noexcept nogil:
    """Return the line end before the next `From `, or NOWHERE; set `is_quoted` if a `>From ` comes first."""
    cdef Text wanted = literal(b"From ")
    cdef Size start
    cdef int byte
    while True:
        at = find_byte(data, NEWLINE, at)
        if at < 0:
            return NOWHERE
        byte = byte_at(data, at + 1)
        if byte == 70 and is_at(data, at + 1, wanted):
            return at
        start = at + 1
        if byte == QUOTE_MARK:
            while byte_at(data, start) == QUOTE_MARK:
                start += 1
            is_quoted[0] |= is_at(data, start, wanted)
        at = start


cdef Text without_empty_line(Text data, Size start, Size end) noexcept nogil:
    """Return the message from `start` to `end` without an empty last line; if `start` is 0, an empty text."""
    if start == 0:
        return nothing()
    if byte_at(data, end - 1) == NEWLINE and byte_at(data, end - 2) == NEWLINE:
        end -= 1
    elif is_at(data, end - 3, literal(b"\n\r\n")):
        end -= 2
    return piece(data, start, end)


cdef Size unquote(Text data, Byte *to) noexcept nogil:
    """Copy a message to `to`, with one `>` removed from lines such as `>>From `; return the size of the copy.

    If a `From ` line follows an empty line, the mailbox quotes none, but relies on Content-Length (mboxcl2).
    Then each `>` was written by the author, and stays. Otherwise `>` is removed, because it is far more often
    written by a mail program.
    """
    cdef Text wanted = literal(b"From ")
    cdef Size at = 0, start, end, size = 0
    if find(data, literal(b"\n\nFrom "), 0) >= 0 or find(data, literal(b"\n\r\nFrom "), 0) >= 0:
        memcpy(to, data.at, data.size)
        return data.size
    while at < data.size:
        start = at
        while byte_at(data, at) == QUOTE_MARK:
            at += 1
        if at > start and is_at(data, at, wanted):
            start += 1
        end = find_byte(data, NEWLINE, at) + 1
        at = end if end else data.size
        memcpy(to + size, piece(data, start, at).at, at - start)
        size += at - start
    return size


cdef bytes message_of(Text data, bint is_quoted):
    """Return a message as bytes; if `is_quoted`, without the `>` that mailboxes put before `From ` lines."""
    cdef Byte *copy
    if not is_quoted:
        return bytes_of(data)
    copy = <Byte *>malloc(data.size + 1)
    if copy is NULL:
        raise MemoryError
    try:
        return PyBytes_FromStringAndSize(<const char *>copy, unquote(data, copy))
    finally:
        free(copy)


cdef class Mailbox:
    """An iterator over the messages (bytes) of an mbox mailbox, which is given as blocks of bytes."""

    cdef object blocks
    cdef Byte *buffer
    cdef Size start, end, room  # of `buffer`: where bytes not returned yet start and end, and its size
    cdef Size limit

    def __cinit__(self, blocks, Size limit=MAX_MESSAGE):
        self.blocks = iter(blocks)
        self.limit = limit

    def __dealloc__(self):
        free(self.buffer)

    def __iter__(self):
        return self

    def __next__(self):
        cdef Size start, most, end
        cdef bint is_quoted
        if not self.read_until(1):
            raise StopIteration
        self.read_until(MAX_ENVELOPE)
        start = find_byte(piece(self.data(), 0, MAX_ENVELOPE), NEWLINE, 0) + 1
        most = start + self.limit
        is_quoted = byte_at(self.data(), start) == QUOTE_MARK
        end = self.end_of_record(most, &is_quoted)
        message = message_of(without_empty_line(self.data(), start, min(end, most)), is_quoted)
        self.start += end
        return message

    cdef inline Text data(self) noexcept:
        cdef Text text
        text.at, text.size = self.buffer + self.start, self.end - self.start
        return text

    cdef bint read_more(self) except -1:
        """Read one more block; return False at the end of the mailbox."""
        cdef Text block
        for data in self.blocks:
            block = text_of(data)
            if block.size:
                self.make_room(block.size)
                memcpy(self.buffer + self.end, block.at, block.size)
                self.end += block.size
                return True
        return False

    cdef int make_room(self, Size size) except -1:
        """Move the unread bytes to the front of the buffer, and make space for `size` bytes after them."""
        cdef Size used = self.end - self.start, room = max(self.room, <Size>FIRST_BUFFER)
        cdef Byte *larger
        if self.room - self.end >= size:
            return 0
        while room - used < size:
            room *= 2
        if used:
            memmove(self.buffer, self.buffer + self.start, used)
        self.start, self.end = 0, used
        if room > self.room:
            larger = <Byte *>realloc(self.buffer, room)
            if larger is NULL:
                raise MemoryError
            self.buffer, self.room = larger, room
        return 0

    cdef bint read_until(self, Size size) except -1:
        """Read blocks until the buffer has `size` unread bytes; return False if the mailbox ends first."""
        while self.end - self.start < size:
            if not self.read_more():
                return False
        return True

    cdef Size discard(self, Size most, Size at) noexcept:
        """Keep only the first `most` bytes and those from `at` - 2 on; return the new offset of the byte at `at`.

        The two bytes before `at` stay, because they show whether the line that ends at `at` is empty.
        """
        cdef Text kept
        if at - 2 <= most:
            return at
        kept = rest(self.data(), at - 2)
        memmove(self.buffer + self.start + most, kept.at, kept.size)
        self.end = self.start + most + kept.size
        return most + 2

    cdef Size end_of_record(self, Size most, bint *is_quoted) except -1:
        """Return where a message ends: at an envelope line or the mailbox's end; keep only `most` bytes."""
        cdef Size at = 1, hit
        cdef Text data
        while True:
            data = self.data()
            with nogil:
                hit = from_line(data, at, is_quoted)
            if hit < 0:
                is_quoted[0] |= has(rest(data, data.size - 5), QUOTE_MARK)  # the line may go on in the next block
                at = self.discard(most, max(at, data.size - 5))
                if not self.read_more():
                    return self.end - self.start
            elif not follows_empty_line(data, hit):
                at = hit + 1
            else:
                if data.size < hit + 1 + MAX_ENVELOPE:
                    hit = self.discard(most, hit)
                    self.read_until(hit + 1 + MAX_ENVELOPE)
                at = hit + 1
                if ends_as_envelope(rest(self.data(), at)):
                    return at


cdef bint starts_as_thunderbird(Text text) noexcept nogil:
    """Return whether a text begins with one of the header fields that Thunderbird puts before all others."""
    return byte_at(text, 0) == 88 and (
        starts_with(text, b"X-Mozilla-") or starts_with(text, b"X-Account-Key:") or starts_with(text, b"X-UIDL:")
    )


# For Python

def is_envelope(data):
    """Return whether bytes begin with an envelope line of an mbox.

    This is `From ` with a weekday, a month and a time in this order, or only `From ` above a header field.

    >>> is_envelope(b"From ann@example.org Mon Nov 15 01:02:03 2026")
    True
    >>> is_envelope(b"From Monday on we meet at 10:30")
    False
    """
    if not data.startswith(b"From "):
        return False
    first = bytes(data[:MAX_ENVELOPE])
    return ends_as_envelope(text_of(first))


def is_deleted(bytes data not None):
    """Return whether a message is marked as deleted or moved, so that compacting the mailbox will remove it.

    Thunderbird sets a bit in one of its header fields, which it puts first; a later one is not trusted, as
    the sender can have written it. Dovecot, Alpine and others put a D in X-Status, which is trusted anywhere.

    >>> is_deleted(b"X-Mozilla-Status: 0009\\nSubject: hello\\n\\n"), is_deleted(b"A: b\\nX-Status: AD\\n\\n")
    (True, True)
    """
    cdef Size at = 0, end
    cdef Text status, message = text_of(data)
    while starts_as_thunderbird(rest(message, at)):
        end = find_byte(message, NEWLINE, at)
        end = end + 1 if end >= 0 else message.size
        if is_at(message, at, literal(b"X-Mozilla-Status:")):
            status = without_space(piece(message, at + 17, end))
            return is_one_of(byte_at(status, status.size - 1), b"89abcdefABCDEF")  # hexadecimal, with the bit 0008
        at = end
    at = find_byte(message, NEWLINE, 0)
    while 0 <= at <= MAX_HEADER - 10 and not follows_empty_line(message, at):
        end = find_byte(message, NEWLINE, at + 1)
        if is_at(message, at, literal(b"\nX-Status:")):
            return has(piece(message, at + 10, end if end >= 0 else message.size - 1), 68)  # D
        at = end
    return False
