# Loops over bytes of HTML that go without a check, as they are most of the time of a page.

cdef uint64_t hash_of(Text text, uint64_t state) noexcept nogil:
    """Return a hash of a text and of what came before it.

    In bounds: 8 bytes are copied where 8 are left, else those that are left one by one.
    Two secret products for 8 bytes, as after one of them a flipped top bit would only move.
    """
    cdef Size at = 0, k
    cdef uint64_t eight
    while at < text.size:
        eight = 0
        if text.size - at >= 8:
            memcpy(&eight, text.at + at, 8)
        else:
            for k in range(at, text.size):
                eight = eight << 8 | text.at[k]
        state = (state ^ eight) * HASH_FACTOR
        state = (state ^ state >> 32) * HASH_FACTOR
        at += 8
    return state ^ state >> 32


cdef bint lower_ascii(Text text, Byte *to) noexcept nogil:
    """Write a text in lower case; return whether it was ASCII, as else it is not.

    In bounds: callers have as much memory behind `to` as the text has bytes.
    """
    cdef Size at
    cdef Byte all_bits = 0
    for at in range(text.size):
        all_bits |= text.at[at]
        to[at] = lower(text.at[at])
    return all_bits < 0x80
