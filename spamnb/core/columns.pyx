# C arrays that numpy uses without a copy, numpy arrays that C code uses, and sorting.
#
# Sorting takes linear time for any numbers, as senders choose fingerprints. Fewer than 2^32 numbers at once.

from cpython.buffer cimport PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE
from cpython.buffer cimport PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer

cdef enum:
    FIRST_ITEMS = 1 << 17  # first size of an array that grows: a megabyte of mail has so many words and pairs
    DIGIT_BITS = 11  # a number is sorted by so many bits at a time: a digit
    DIGITS = 1 << DIGIT_BITS
    MAX_INT32 = 0x7FFFFFFF

cdef int64_t MAX_ENTRIES = 0xFFFFFFFF


cdef class Column:
    """A C array that Python code can read as a buffer; numpy uses its memory without a copy."""

    cdef void *at
    cdef Size size  # bytes

    def __dealloc__(self):
        free(self.at)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.at, self.size, False, flags)


cdef Column new_column(Size size):
    """Return an array of `size` bytes with undefined content."""
    cdef Column column = Column()
    column.at, column.size = memory_of(NULL, max(size, <Size>1)), size
    return column


cdef Column cut_to(Column column, Size size):
    """Shrink an array to `size` bytes, and return it."""
    cdef void *smaller = realloc(column.at, max(size, <Size>1))
    column.at, column.size = smaller if smaller is not NULL else column.at, size
    return column


cdef void *grown(void *items, Size *room, Size needed, Size item_size) except NULL nogil:
    """Enlarge an array for at least `needed` items, and return it; set `room` to how many items now fit."""
    cdef Size larger = max(needed, max(2 * room[0], <Size>FIRST_ITEMS))
    items = memory_of(items, larger * item_size)
    room[0] = larger
    return items


cdef extern from *:
    """
    #define LARGE_PAGE ((size_t)1 << 21)

    /* Memory of zeros; if it is large, in huge pages: places anywhere in it are then found without misses of the TLB. */
    static void *spamnb_zeros(size_t size) {
    #ifdef MADV_HUGEPAGE
        if (size >= LARGE_PAGE) {
            size_t room = (size + 2 * LARGE_PAGE - 1) & ~(LARGE_PAGE - 1), before;
            char *start = (char *)mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (start == (char *)MAP_FAILED) return NULL;
            before = -(uintptr_t)start & (LARGE_PAGE - 1);
            if (before) munmap(start, before);
            if (before < LARGE_PAGE) munmap(start + before + room - LARGE_PAGE, LARGE_PAGE - before);
            madvise(start + before, room - LARGE_PAGE, MADV_HUGEPAGE);
            return start + before;
        }
    #endif
        return calloc(1, size);
    }

    static void spamnb_free_zeros(void *memory, size_t size) {
    #ifdef MADV_HUGEPAGE
        if (memory && size >= LARGE_PAGE) {
            munmap(memory, (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1));
            return;
        }
    #endif
        free(memory);
    }

    #if defined(__GLIBC__)
    #include <malloc.h>
    static void spamnb_trim(void) { malloc_trim(0); }
    #else
    static void spamnb_trim(void) {}
    #endif
    """
    void spamnb_trim() noexcept nogil
    void *spamnb_zeros(size_t size) noexcept nogil
    void free_zeros "spamnb_free_zeros"(void *memory, size_t size) noexcept nogil


cdef void *zeros_of(Size size) except NULL nogil:
    """Return `size` bytes of memory, all zero; the caller must free them with `free_zeros`."""
    cdef void *memory = spamnb_zeros(size)
    if memory is NULL:
        with gil:
            raise MemoryError
    return memory


def trim_memory():
    """Give freed memory back to the system; after many batches, this is a third of all memory."""
    with nogil:
        spamnb_trim()


# Sorting

cdef void count_digits(const uint64_t *keys, Size stride, Size *starts, Size count, int shift) noexcept nogil:
    """Set `starts[d]` to how many keys have a digit (DIGIT_BITS bits from bit `shift` on) that is below d."""
    cdef Size n, digit, size, total = 0
    memset(starts, 0, DIGITS * sizeof(Size))
    for n in range(count):
        starts[keys[n * stride] >> shift & (DIGITS - 1)] += 1
    for digit in range(DIGITS):
        size = starts[digit]
        starts[digit] = total
        total += size


cdef void sort_by_digit(const uint64_t *keys, uint64_t *sorted, Size count, int shift) noexcept nogil:
    """Sort keys stably by one digit (DIGIT_BITS bits from bit `shift` on); write the result to `sorted`."""
    cdef Size[DIGITS] starts
    cdef Size n, digit
    count_digits(keys, 1, starts, count, shift)
    for n in range(count):
        digit = keys[n] >> shift & (DIGITS - 1)
        sorted[starts[digit]] = keys[n]
        starts[digit] += 1


cdef void sort_places(
    const uint64_t *values, Size stride, const uint64_t *order, uint64_t *sorted, Size count, int shift
) noexcept nogil:
    """Sort the indices in `order` stably by one digit of their values; write the result to `sorted`."""
    cdef Size[DIGITS] starts
    cdef Size n, digit
    count_digits(values, stride, starts, count, shift)
    for n in range(count):
        digit = values[order[n] * stride] >> shift & (DIGITS - 1)
        sorted[starts[digit]] = order[n]
        starts[digit] += 1


cdef bint finish_sorting(uint64_t *keys, Size count) noexcept nogil:
    """Sort nearly sorted keys, and return True; if they are far from sorted, stop half-way and return False."""
    cdef Size n, to, moves = 0
    cdef uint64_t key
    for n in range(1, count):
        key, to = keys[n], n
        while to and keys[to - 1] > key and moves <= 4 * count:
            keys[to] = keys[to - 1]
            to -= 1
            moves += 1
        keys[to] = key
    return moves <= 4 * count


cdef bint make_places(
    const uint64_t *values, Size stride, uint64_t *keys, uint64_t places, Size count
) noexcept nogil:
    """Replace each key by the index in its lowest bits; return False if this is not the values' order."""
    cdef Size n
    cdef uint64_t place = 0, last_place = 0, last_key = 0
    for n in range(count):
        place = keys[n] & places
        if n and (keys[n] ^ last_key) <= places and values[place * stride] < values[last_place * stride]:
            return False
        last_key, last_place, keys[n] = keys[n], place, place
    return True


cdef uint64_t *order_of(const uint64_t *values, Size stride, Size count) except NULL nogil:
    """Return the indices of values, in ascending order of the values; the caller must free the array.

    The values are `stride` numbers apart. Copies are sorted, with each value's index in its lowest bits.
    Fingerprints are random: after sorting by the two highest digits, little is left to do.
    """
    cdef uint64_t *keys = <uint64_t *>memory_of(NULL, 2 * count * sizeof(uint64_t) + 1)
    cdef uint64_t *spare = keys + count
    cdef uint64_t places = 1
    cdef Size n
    cdef int digit
    while places <= <uint64_t>count:
        places <<= 1
    places -= 1
    for n in range(count):
        keys[n] = (values[n * stride] & ~places) | <uint64_t>n
    sort_by_digit(keys, spare, count, 64 - 2 * DIGIT_BITS)
    sort_by_digit(spare, keys, count, 64 - DIGIT_BITS)
    if finish_sorting(keys, count) and make_places(values, stride, keys, places, count):
        return <uint64_t *>memory_of(keys, count * sizeof(uint64_t) + 1)
    for n in range(count):  # somebody chose fingerprints with the same first digits
        keys[n] = n
    for digit in range(0, 6, 2):
        sort_places(values, stride, keys, spare, count, digit * DIGIT_BITS)
        sort_places(values, stride, spare, keys, count, (digit + 1) * DIGIT_BITS)
    return keys


# numpy arrays. Typed memoryviews of Cython would do, but then the core takes 4 ms longer to load.

cdef class Numbers:
    """The memory `at` of an array: `count` numbers of `width` bytes; valid while this object exists."""

    cdef Py_buffer view
    cdef void *at
    cdef Size count
    cdef bint is_open

    def __cinit__(self, array, Size width, bint is_writable=False):
        PyObject_GetBuffer(array, &self.view, PyBUF_ND | PyBUF_WRITABLE if is_writable else PyBUF_ND)
        self.is_open = True
        if self.view.itemsize != width:
            raise ValueError(f"the array must have numbers of {width} bytes, not of {self.view.itemsize}")
        self.at, self.count = self.view.buf, self.view.len // width

    def __dealloc__(self):
        if self.is_open:
            PyBuffer_Release(&self.view)
