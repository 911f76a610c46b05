cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

@cython.locals(at=Py_ssize_t, beside=Py_ssize_t, size=Py_ssize_t, first_end=Py_ssize_t, second_end=Py_ssize_t,
               number=uint64_t, other=uint64_t)
cpdef Py_ssize_t merge_two(const uint64_t[::1] first, const uint64_t[::1] second, uint64_t[::1] union,
                           int64_t[::1] of_first, int64_t[::1] of_second) except -1

@cython.locals(index=Py_ssize_t, at=int64_t, to=int64_t)
cpdef copy_texts(const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] lengths, uint8_t[::1] chosen)

@cython.locals(at=Py_ssize_t, index=Py_ssize_t)
cpdef find_places(const uint64_t[::1] numbers, const uint64_t[::1] wanted, int64_t[::1] places)

@cython.locals(message=Py_ssize_t, entry=int64_t, sign=int32_t)
cpdef count_rows(const int64_t[::1] starts, const int32_t[::1] places, const uint16_t[::1] times, const int32_t[::1] signs,
                 int32_t[::1] messages, int32_t[::1] occurrences)
