# CRC-32 by the processor's carry-less multiplication, where it has one: the tables of msgpack.pyx take five times as
# long.

cdef extern from *:
    """
    #if defined(__x86_64__)
    #include <cpuid.h>
    #include <immintrin.h>

    static int spamnb_can_fold(void) {
        unsigned a, b, c = 0, d;
        return __get_cpuid(1, &a, &b, &c, &d) && c >> 1 & 1;
    }

    /* Write 16 bytes whose CRC-32, begun with 0, is that of all blocks of 64 bytes and of 16 bytes behind them.
       In bounds: whole blocks alone are read. The factors are powers of x modulo the polynomial (Intel's paper of 2009
       on this has them: x^(4*128+32) and so on, their bits reversed). */
    __attribute__((target("pclmul")))
    static void spamnb_fold(const unsigned char *at, Py_ssize_t size, unsigned crc, unsigned char *to) {
        const __m128i four = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), one = _mm_set_epi64x(0xccaa009e, 0x1751997d0);
        __m128i found[4];
        int k;
    #define FOLD(x, by) _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11))
    #define LOAD(k) _mm_loadu_si128((const __m128i *)at + k)
        for (k = 0; k < 4; k++) found[k] = LOAD(k);
        found[0] = _mm_xor_si128(found[0], _mm_cvtsi32_si128((int)crc));
        for (at += 64, size -= 64; size >= 64; at += 64, size -= 64)
            for (k = 0; k < 4; k++) found[k] = _mm_xor_si128(FOLD(found[k], four), LOAD(k));
        for (k = 1; k < 4; k++) found[0] = _mm_xor_si128(FOLD(found[0], one), found[k]);
        for (; size >= 16; at += 16, size -= 16) found[0] = _mm_xor_si128(FOLD(found[0], one), LOAD(0));
        _mm_storeu_si128((__m128i *)to, found[0]);
    }
    #else
    static int spamnb_can_fold(void) { return 0; }
    static void spamnb_fold(const unsigned char *at, Py_ssize_t size, unsigned crc, unsigned char *to) {}
    #endif
    """
    bint spamnb_can_fold() noexcept nogil
    void spamnb_fold(const Byte *at, Size size, uint32_t crc, Byte *to) noexcept nogil
