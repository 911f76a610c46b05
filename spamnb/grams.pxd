from libc.stdint cimport uint32_t, uint64_t

cdef int PART_BIT, HASH_SHIFT
cdef uint64_t FACTOR, LOWER_HALF

cpdef uint32_t counter_of(uint64_t gram, uint32_t part) noexcept

cpdef uint32_t part_of(uint32_t counter) noexcept
