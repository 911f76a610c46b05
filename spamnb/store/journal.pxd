cimport cython
from libc.stdint cimport uint64_t

cimport spamnb.store.direct as direct

cdef uint64_t LAST_MARK

@cython.final
cdef class SoughtFeatures:
    cdef frozenset features
    cdef bytearray marks

@cython.locals(at=Py_ssize_t, feature=uint64_t, label_index=Py_ssize_t, row=list)
cdef int _add(dict rows, bytes features, Py_ssize_t width, bytes occurrences, list steps, Py_ssize_t label_count, SoughtFeatures wanted) except -1

@cython.locals(at=Py_ssize_t, total=uint64_t)
cdef uint64_t _sum(bytes numbers, Py_ssize_t width) except? 0xFFFFFFFFFFFFFFFF

@cython.locals(at=Py_ssize_t, highest=uint64_t)
cdef uint64_t _highest(bytes numbers, Py_ssize_t width) except? 0xFFFFFFFFFFFFFFFF

cdef class JournalRecord:
    cdef dict __dict__

cdef class Journal:
    cdef dict __dict__
