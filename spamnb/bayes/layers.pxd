cimport cython
from libc.stdint cimport uint64_t

cimport spamnb.store.direct as direct

cdef uint64_t LARGEST_COUNT

cdef class LayeredTotals:
    cdef dict __dict__

cdef class LayeredCounts(LayeredTotals):
    pass

@cython.locals(counts=list, k=Py_ssize_t, count=uint64_t, other=uint64_t)
cpdef list added(own, base)

@cython.locals(place=Py_ssize_t, count=uint64_t, other=uint64_t)
cpdef added_grams(bytearray own, bytearray base)

@cython.locals(row=tuple, other=tuple, counts=list, k=Py_ssize_t, count=uint64_t, beneath=uint64_t)
cpdef dict added_rows(dict own, dict base)
