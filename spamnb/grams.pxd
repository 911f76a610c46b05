cimport cython
from libc.stdint cimport uint32_t, uint64_t

# Of 64 bits, so that C knows that no counter that is written changes them.
cdef uint64_t FACTOR, LOWER_HALF, PART_BIT, HASH_SHIFT, FIRST_BIT
cdef int MOST_GRAMS, LAST_BYTE

cpdef uint32_t counter_of(uint64_t gram, uint32_t part) noexcept

cpdef uint32_t part_of(uint32_t counter) noexcept

@cython.final
cdef class GramSet:
    cdef uint32_t[8192] seen
    cdef uint32_t[4096] counters
    cdef int used

    @cython.locals(source="const unsigned char *", gram=uint32_t, used="long", letter=uint32_t, at=Py_ssize_t, size=Py_ssize_t, counter=uint32_t, place=uint32_t, bit=uint32_t)
    cpdef int add(self, bytes text, uint32_t part) except -1

    @cython.locals(counter=uint32_t)
    cdef int take(self, list counters) except -1

    @cython.locals(entry=int)
    cdef void clear(self) noexcept

    @cython.locals(entry=int)
    cpdef list as_list(self)
