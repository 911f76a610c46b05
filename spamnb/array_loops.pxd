cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef int DIGIT_COUNT
cdef uint64_t LAST_DIGIT

@cython.locals(starts=int64_t[::1], at=size_t, digit=size_t, key=uint64_t)
cpdef sort_by_digit(const uint64_t[::1] keys, uint64_t[::1] ordered, int shift)

@cython.locals(moves=Py_ssize_t, most=Py_ssize_t, at=size_t, to=size_t, key=uint64_t)
cpdef bint insertion_sort(uint64_t[::1] keys) except -1

@cython.locals(runs=uint32_t, at=size_t, place=size_t, before=uint64_t, value=uint64_t)
cpdef int32_t number_runs(const uint64_t[::1] values, const uint64_t[::1] keys, uint64_t index_mask, int64_t[::1] firsts,
                          int32_t[::1] places) except -2

@cython.locals(index=size_t, which=size_t, at=size_t, to=size_t)
cpdef Py_ssize_t copy_texts(const uint8_t[::1] data, const int64_t[::1] ends, const int64_t[::1] chosen, uint8_t[::1] copied,
                            int64_t[::1] copied_ends) except -1

@cython.locals(size=size_t, at=size_t, index=size_t, value=uint64_t)
cpdef find_places(const uint64_t[::1] values, const uint64_t[::1] wanted, int64_t[::1] places)

@cython.locals(message=size_t, entry=size_t, place=uint32_t, sign=int32_t)
cpdef count_rows(const int64_t[::1] starts, const int32_t[::1] places, const uint16_t[::1] times, const int32_t[::1] signs,
                 int32_t[::1] messages, int32_t[::1] occurrences)

@cython.locals(message=size_t, entry=size_t, sign=int32_t)
cpdef count_sets(const int64_t[::1] starts, const uint32_t[::1] members, const int32_t[::1] signs, int32_t[::1] messages)

@cython.locals(at=size_t)
cpdef add_row(int64_t[::1] total, const int32_t[::1] places, const int64_t[::1] row)

@cython.locals(at=size_t, place=uint32_t, first=uint16_t, last=uint16_t)
cpdef widen_days(uint16_t[::1] first_days, uint16_t[::1] last_days, const int32_t[::1] places, const uint16_t[:] own_first,
                 const uint16_t[:] own_last)
