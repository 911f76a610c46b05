cimport cython
from libc.stdint cimport int64_t, uint64_t

from spamnb.checksum cimport crc32

cpdef uint64_t checksum_of(bytes stretch, uint64_t index) except? 0xFFFFFFFFFFFFFFFF

@cython.locals(rows=dict, count_width=Py_ssize_t, place=Py_ssize_t, at=Py_ssize_t, total=uint64_t, count=uint64_t, counts=list, k=Py_ssize_t)
cpdef dict rows_at(bytes data, Py_ssize_t label_count, places)

@cython.locals(spread_out=bytearray, number=Py_ssize_t, to=Py_ssize_t, at=Py_ssize_t)
cpdef bytes spread(bytes counters, bytes counts, Py_ssize_t width)

@cython.locals(number=uint64_t, place=Py_ssize_t)
cdef uint64_t number_at(bytes data, Py_ssize_t at, Py_ssize_t size) except? 0xFFFFFFFFFFFFFFFF

@cython.locals(middle=int64_t, found=uint64_t)
cpdef int64_t offset_of(bytes records, uint64_t key, int64_t first, int64_t last, int64_t width) except -2

cdef class File:
    cdef dict __dict__

cdef class Column:
    cdef dict __dict__

@cython.final
cdef class CountRecords:
    cdef readonly object column, directory
    cdef readonly bint in_memory
    cdef bytes records, entries
    cdef int64_t bytes_to_verify, width, entry_width, first_count, count_width, start, directory_start
    cdef int handle
    cdef readonly int shift
    cdef dict latest
    cdef set verified

    cpdef load(self)
    @cython.locals(rows=dict, looked_up=dict, latest=dict, entries=bytes)
    cpdef dict rows(self, fingerprints)
    @cython.locals(at=int64_t, first=int64_t, last=int64_t)
    cdef row_in_memory(self, uint64_t fingerprint)
    @cython.locals(index=uint64_t, first=int64_t, last=int64_t, checksum=uint64_t, stretch=bytes, at=int64_t,
                   size=int64_t, is_long=bint)
    cdef row_on_disk(self, uint64_t fingerprint, bytes entries)
    @cython.locals(counts=list, place=int64_t)
    cdef tuple row_at(self, bytes records, int64_t at)
