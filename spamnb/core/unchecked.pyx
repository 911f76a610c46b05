# Functions that access memory without checking bounds, and why that is safe. Only unchecked*.pyx files have such code.

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define SPAMNB_FIRST_LOWEST(eight) __builtin_bswap64(eight)
    #define SPAMNB_FOUR_SHIFT 32
    #else
    #define SPAMNB_FIRST_LOWEST(eight) (eight)
    #define SPAMNB_FOUR_SHIFT 0
    #endif
    """
    const int SPAMNB_FOUR_SHIFT
    uint64_t SPAMNB_FIRST_LOWEST(uint64_t eight) noexcept nogil


cdef inline uint64_t load_eight(Text text, Size at) noexcept nogil:
    """Return eight bytes of a text as one number, the first byte lowest; behind the text's end are spaces.

    Safe for any offset from 0 on: only bytes of the text are read.
    """
    cdef uint64_t eight = 0x2020202020202020u
    if at + 8 <= text.size:
        memcpy(&eight, text.at + at, 8)
    elif at < text.size:
        memcpy(&eight, text.at + at, text.size - at)
    return SPAMNB_FIRST_LOWEST(eight)


cdef inline Size first_high(Text text, Size at) noexcept nogil:
    """Return the offset of the next byte above 0x7f, from `at` on; the size of the text if there is none."""
    while at + 8 <= text.size and not load_eight(text, at) & 0x8080808080808080u:
        at += 8
    while 0 <= byte_at(text, at) < 0x80:
        at += 1
    return min(at, text.size)


cdef inline uint32_t load_four(const Byte *at) noexcept nogil:
    """Return four bytes as a number, first byte lowest. In bounds: `add_grams` calls it where 4 are left."""
    cdef uint32_t four
    memcpy(&four, at, 4)
    return SPAMNB_FIRST_LOWEST(<uint64_t>four) >> SPAMNB_FOUR_SHIFT


cdef inline void store_eight(Byte *to, uint64_t eight) noexcept nogil:
    """Write eight bytes. In bounds: only features.pyx calls it, after `make_letter_room`, which adds 8."""
    eight = SPAMNB_FIRST_LOWEST(eight)
    memcpy(to, &eight, 8)


cdef uint64_t hash_of(Text text, uint64_t state) noexcept nogil:
    """Return a hash of a text; `state` is a seed, or the hash of a preceding text.

    In bounds: 8 bytes are copied where 8 are left, else the last ones singly. Each 8 bytes are multiplied by
    a secret twice: if only once, a changed top bit of a text would change a single bit of the hash.
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
    """Write a text to `to`, with its ASCII letters in lower case; return whether all of the text is ASCII.

    In bounds: callers give `to` memory for as many bytes as the text has.
    """
    cdef Size at
    cdef Byte all_bits = 0
    for at in range(text.size):
        all_bits |= text.at[at]
        to[at] = lower(text.at[at])
    return all_bits < 0x80
