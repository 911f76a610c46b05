# Bytes taken eight at a time, the first lowest; plain_eights.py is the interpreted form.
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define SPAMNB_FIRST_LOWEST(eight) __builtin_bswap64(eight)
    #else
    #define SPAMNB_FIRST_LOWEST(eight) (eight)
    #endif
    """
    uint64_t SPAMNB_FIRST_LOWEST(uint64_t eight) noexcept

cdef inline uint64_t load(const unsigned char *source, size_t at, size_t size) noexcept:
    cdef uint64_t eight
    if at + 8 <= size:
        memcpy(&eight, source + at, 8)
    else:
        memset(&eight, 32, 8)
        if at < size:
            memcpy(&eight, source + at, size - at)
    return SPAMNB_FIRST_LOWEST(eight)

cdef inline void store(unsigned char *text, size_t to, uint64_t eight) noexcept:
    eight = SPAMNB_FIRST_LOWEST(eight)
    memcpy(text + to, &eight, 8)

cdef inline void copy(unsigned char *text, size_t to, const unsigned char *source, size_t size) noexcept:
    memcpy(text + to, source, size)
