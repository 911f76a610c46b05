# Finds the leaf parts of a message in one pass: for each its header block, and where its body starts and ends.
#
# Malformed mail is read so that no text is missed: none is dropped because a boundary is wrong, absent or never closed,
# a type is malformed, or a header block ends without a blank line. The offset only moves forward, no search reads the
# same bytes twice, and there is no recursion.

cpdef enum:  # limits of a message; of 8,000 real ones, none had more than 20 leaf parts
    MAX_PARTS = 100000  # multiparts included; what follows is read as one text
    ENOUGH_HEADER = 2000  # bytes: when less is left of MAX_HEADER_BYTES, what follows is read as one text
    MAX_LEAVES = 1000  # leaf parts with text that are kept, and as many others: the largest ones
    MAX_NESTING = 100  # open multiparts, as in Postfix; one more is read as text
    MAX_DELIMITER = 1000  # bytes of a boundary line; the standard allows 74
    MAX_DASHED_LINES = 500000  # lines looked at because they are as long as a boundary and start with "--"


cdef struct FoundLeaf:  # a leaf part, or the header block of an embedded message
    Text content_type
    HeaderBlock head
    Size end  # where its body ends; NOWHERE for an embedded message


cdef struct Multipart:
    Text line  # "\n--boundary"
    bint is_digest  # multipart/digest: parts are messages, unless they declare another type


cdef struct Walk:  # the state of the pass over a message
    Mail *mail
    FoundLeaf *found
    Size count
    Size room
    Multipart[MAX_NESTING] open
    int depth  # how many multiparts are open
    Byte[MAX_DELIMITER + 2] sizes  # whether a line of this size can be a delimiter
    Size header_left  # bytes of MAX_HEADER_BYTES that are not used
    Size dashed_left  # … and lines of MAX_DASHED_LINES


cdef struct Delimiter:  # a line that separates the parts of a multipart
    Size before  # end of the text before it
    Size after  # start of the line behind it
    int depth  # number of its multipart in `open`; NOWHERE: there is no further delimiter
    bint closes  # whether this line ends its multipart


cdef int find_leaves(Walk *walk, Mail *mail, Size at) except -1 nogil:
    """Write the leaf parts of a message (without parts in them) to `walk`; its headers start at `at`."""
    cdef Text content_type, declared, default = literal(b"text/plain")
    cdef HeaderBlock block
    cdef bint is_first = True, is_embedded = False
    cdef int left = MAX_PARTS, depth, begins = NOWHERE
    cdef Size start, end
    memset(walk, 0, sizeof(Walk))
    start_block(mail, &mail.head, at)
    walk.mail = mail
    walk.header_left, walk.dashed_left = MAX_HEADER_BYTES, MAX_DASHED_LINES
    while left > 0 and walk.header_left > ENOUGH_HEADER and 0 <= at < mail.data.size:
        left -= 1
        start = at
        next_block(walk, &block, start)
        if is_first:
            mail.head = block
            is_first = False
        if is_embedded:
            add_found(walk, literal(b"message/rfc822"), &block, NOWHERE)
        declared = raw_value(&block, CONTENT_TYPE)
        content_type = default
        if block.first[CONTENT_TYPE] >= 0:
            media_type(mail.arena, declared, &content_type)
        # The standard forbids to encode an embedded message; where it is encoded, it is read as a text.
        is_embedded = is_message(content_type) and declared_encoding(&block) == AS_IT_IS
        at = block.body
        if is_embedded:
            default = literal(b"text/plain")
            continue
        depth = NOWHERE
        if declared.size and starts_with(content_type, b"multipart/"):
            depth = open_multipart(walk, declared, is_(content_type, b"multipart/digest"))
            content_type = literal(b"text/plain")  # what it is read as, unless a delimiter of its own turns up
        end = next_part(walk, block.body, &begins, &at)
        if end != start and (depth < 0 or begins != depth):  # else two delimiters in a row, or a preamble
            add_found(walk, content_type, &block, end)
        if walk.count > 4 * MAX_LEAVES:
            keep_largest(walk)
        if at >= 0:
            default = literal(b"text/plain")
            if walk.open[walk.depth - 1].is_digest:
                default = literal(b"message/rfc822")
    if 0 <= at < mail.data.size:
        start_block(mail, &block, at)
        add_found(walk, literal(b"text/plain"), &block, mail.data.size)
    if walk.count > MAX_LEAVES:
        keep_largest(walk)
    return 0


cdef int add_found(Walk *walk, Text content_type, HeaderBlock *head, Size end) except -1 nogil:
    """Append a leaf part to `walk.found`; its body ends at offset `end` (NOWHERE: embedded message)."""
    cdef FoundLeaf *leaf
    walk.found = <FoundLeaf *>with_room(walk.mail.arena, walk.found, walk.count, &walk.room, sizeof(FoundLeaf))
    leaf = &walk.found[walk.count]
    leaf.content_type, leaf.head, leaf.end = content_type, head[0], end
    walk.count += 1
    return 0


cdef int keep_largest(Walk *walk) except -1 nogil:
    """Drop all leaf parts except the MAX_LEAVES largest texts and the MAX_LEAVES largest others."""
    cdef Share *by_size = <Share *>allot(walk.mail.arena, walk.count * sizeof(Share))
    cdef Size n, which, count = 0
    cdef Size[2] left = [MAX_LEAVES, MAX_LEAVES]  # others, texts
    for n in range(walk.count):
        by_size[n].which, by_size[n].size = n, walk.found[n].end - walk.found[n].head.body
    sort_shares(by_size, walk.count)
    for n in range(walk.count - 1, -1, -1):
        which = by_size[n].which
        left[is_textual(walk.found[which].content_type)] -= 1
        if left[is_textual(walk.found[which].content_type)] < 0:
            walk.found[which].head.body = NOWHERE  # to be dropped below
    for n in range(walk.count):
        if walk.found[n].head.body >= 0:
            walk.found[count] = walk.found[n]
            count += 1
    walk.count = count
    return 0


# Types

cdef int media_type(Arena *arena, Text declared, Text *result) except -1 nogil:
    """Set `result` to the type in a raw Content-Type, in lower case; to text/plain if it has no valid one."""
    cdef Text word
    cdef Size at = 0
    result[0] = literal(b"text/plain")
    next_of(until(declared, SEMICOLON, 0), b" \t\n\v\f\r", &at, &word)
    return lowered(arena, word, result) if count_byte(word, c"/") == 1 and is_ascii(word) else 0


cdef bint is_message(Text content_type) noexcept nogil:
    return (is_(content_type, b"message/rfc822") or is_(content_type, b"message/global")
            or is_(content_type, b"message/news"))


cdef bint is_textual(Text content_type) noexcept nogil:
    """Return whether a part with this content type is read as text; "" (mail without headers) is, too."""
    return (starts_with(content_type, b"text/") or starts_with(content_type, b"message/") or not content_type.size
            or is_(content_type, b"application/xhtml+xml"))


# Header blocks

cdef int next_block(Walk *walk, HeaderBlock *block, Size at) except -1 nogil:
    """Read the header block at offset `at` into `block`; a block that is longer than allowed is cut at a line end."""
    cdef Size limit = min(walk.mail.data.size, at + walk.header_left)
    read_block(walk.mail, block, at, limit)
    if block.body < 0:
        block.body = min(or_end(walk.mail.data, find_byte(walk.mail.data, LF, limit)) + 1, walk.mail.data.size)
        block.body += byte_at(walk.mail.data, block.body) == LF
    walk.header_left -= min(block.body, limit) - at
    return 0


# Multiparts

cdef int open_multipart(Walk *walk, Text declared, bint is_digest) except -2 nogil:
    """Open a multipart by its raw Content-Type; return its index in `walk.open`, NOWHERE if impossible."""
    cdef Parameters found
    cdef Text boundary, line
    read_parameters(walk.mail.arena, declared, &found)
    boundary = found.named[BOUNDARY_PARAMETER].text
    while is_one_of(byte_at(boundary, boundary.size - 1), b" \t"):
        boundary.size -= 1
    if not 0 < boundary.size < MAX_DELIMITER - 2 or walk.depth == MAX_NESTING:
        return NOWHERE
    joined(walk.mail.arena, literal(b"\n--"), boundary, &line)
    if depth_of(walk, line) >= 0:
        return NOWHERE
    walk.open[walk.depth].line, walk.open[walk.depth].is_digest = line, is_digest
    walk.sizes[boundary.size + 2] = walk.sizes[boundary.size + 4] = True
    walk.depth += 1
    return walk.depth - 1


cdef Size next_part(Walk *walk, Size at, int *begins, Size *next) noexcept nogil:
    """Return where the body at offset `at` ends; find the next part, and close multiparts that end before it.

    Set `next` to where the next part starts (NOWHERE: no part). If it follows the body directly, set `begins`
    to the number of its multipart, else to NOWHERE. A delimiter of an outer multipart closes the inner ones.
    """
    cdef Delimiter delimiter = next_delimiter(walk, at)
    cdef Size end = delimiter.before
    begins[0] = NOWHERE if delimiter.closes else delimiter.depth
    while delimiter.closes:
        walk.depth = delimiter.depth
        delimiter = next_delimiter(walk, delimiter.after)
    next[0] = NOWHERE
    if delimiter.depth >= 0:
        walk.depth = delimiter.depth + 1
        next[0] = delimiter.after
    return end


cdef Delimiter next_delimiter(Walk *walk, Size at) noexcept nogil:
    """Return the next boundary line of an open multipart, from offset `at` on; if none, depth is NOWHERE."""
    cdef Text data = walk.mail.data, line, sought = literal(b"\n--")
    cdef Size feed = at - 1, stop, end
    cdef Delimiter found
    found.before = found.after = data.size
    found.depth, found.closes = NOWHERE, False
    if walk.depth == 1:
        sought = walk.open[0].line
    while walk.depth and walk.dashed_left:
        feed = find(data, sought, feed)
        if feed < 0:
            break
        line = piece(data, feed, feed + MAX_DELIMITER + 10)
        stop = find_byte(line, LF, 1)
        if stop >= 0:
            line.size = stop
        while is_one_of(byte_at(line, line.size - 1), b" \t\r\f\v"):
            line.size -= 1
        if line.size - 1 < MAX_DELIMITER + 2 and walk.sizes[line.size - 1]:
            walk.dashed_left -= 1
            found.depth = depth_of(walk, line)
            if found.depth < 0 and ends_with(line, b"--"):
                found.depth = depth_of(walk, piece(line, 0, line.size - 2))
                found.closes = found.depth >= 0
            if found.depth >= 0:
                end = feed - 1 if byte_at(data, feed - 1) == CR else feed
                found.before = max(at, end)
                found.after = feed + stop + 1 if stop >= 0 else data.size
                return found
        feed += 3
    return found


cdef int depth_of(Walk *walk, Text line) noexcept nogil:
    """Return the number of the open multipart to which this boundary line belongs; NOWHERE for any other line."""
    cdef int depth
    for depth in range(walk.depth):
        if equal(walk.open[depth].line, line):
            return depth
    return NOWHERE
