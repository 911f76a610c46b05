# Loops over letters without bounds checks.

cdef extern from *:
    """
    /* In C, for its arithmetic of bytes without a branch, which compilers do 16 at a time: a tenth of the time. */
    #define IS_AMONG(byte, first, count) ((uint8_t)-((uint8_t)((byte) - (first)) < (count)))  /* 255, else 0 */

    /* Write spaces for separators, and letters in lower case; digits, joiners of words and what is not ASCII stay.
       Only `spaced` calls it; both arrays have `size` bytes. */
    static void spamnb_put_spaced(uint8_t *__restrict to, const uint8_t *__restrict source, Py_ssize_t size) {
        for (Py_ssize_t at = 0; at < size; at++) {
            uint8_t byte = source[at], small = byte | 32, is_letter = IS_AMONG(small, 'a', 26);
            uint8_t is_kept = IS_AMONG(byte, '0', 10) | IS_AMONG(byte, 128, 128) | IS_AMONG(byte, '$', 1)
                | IS_AMONG(byte, '!', 1) | IS_AMONG(byte, '-', 1) | IS_AMONG(byte, '_', 1) | IS_AMONG(byte, 39, 1);
            to[at] = (uint8_t)((small & is_letter) | (byte & is_kept) | (32 & ~(is_letter | is_kept)));
        }
    }
    """
    void put_spaced "spamnb_put_spaced"(Byte *to, const Byte *source, Size size) noexcept nogil


cdef Size write_chars(Byte *to, Size at, const Char *word, Size size) noexcept nogil:
    """Write characters as UTF-8; return where they end. Only `put_word` calls it, with memory for four bytes each."""
    cdef Size k
    cdef Char char
    for k in range(size):
        char = word[k]
        if char < 0x80:
            to[at] = char
            at += 1
        elif char == SHARP_S:
            to[at] = to[at + 1] = 115  # ss
            at += 2
        elif char < 0x800:
            to[at] = 0xC0 | char >> 6
            to[at + 1] = 0x80 | (char & 0x3F)
            at += 2
        elif char < 0x10000:
            to[at] = 0xE0 | char >> 12
            to[at + 1] = 0x80 | (char >> 6 & 0x3F)
            to[at + 2] = 0x80 | (char & 0x3F)
            at += 3
        else:
            to[at] = 0xF0 | char >> 18
            to[at + 1] = 0x80 | (char >> 12 & 0x3F)
            to[at + 2] = 0x80 | (char >> 6 & 0x3F)
            to[at + 3] = 0x80 | (char & 0x3F)
            at += 4
    return at
