cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

cimport spamnb.store.direct as direct
from spamnb.grams cimport GramSet

cdef int64_t BLOCK, MOST_BLOCKS
cdef int LAST_SLOT
cdef uint64_t LARGEST_COUNT

cpdef uint64_t checksum_of(bytes stretch, uint64_t index) except? 0xFFFFFFFFFFFFFFFF

@cython.locals(rows=dict, count_width=Py_ssize_t, place=Py_ssize_t, at=Py_ssize_t, total=uint64_t, count=uint64_t, counts=list, k=Py_ssize_t)
cpdef dict rows_at(bytes data, Py_ssize_t label_count, places)

@cython.locals(counts=bytearray, width=int64_t, row_width=int64_t, rows=int64_t, step=int64_t, firsts=int[64], others=int[4096],
               places=int64_t[4096], entry=int, place=int64_t, at=int64_t, block=int64_t, checksum=uint32_t, start=int64_t, data=bytes, k=int)
cpdef grams_on_disk(column, bytes counters, GramSet found, int label_count)

@cython.locals(counts=bytearray, width=Py_ssize_t, at=Py_ssize_t, entry=int, k=int)
cpdef grams_in_memory(bytes data, GramSet found, int label_count)

@cython.locals(slots=int[8192], entry=int, at=int, place=Py_ssize_t, grams=bytes, number=Py_ssize_t, counter=uint32_t, k=int, sign=int)
cpdef change_grams(bytearray counts, GramSet found, list changes, int label_count)

@cython.locals(spread_out=bytearray, number=Py_ssize_t, to=Py_ssize_t, at=Py_ssize_t)
cpdef bytes spread(bytes counters, bytes counts, Py_ssize_t width)

cdef uint64_t number_at(bytes data, Py_ssize_t at, Py_ssize_t size) except? 0xFFFFFFFFFFFFFFFF

@cython.locals(key_bytes=Py_ssize_t, middle=int64_t, found=uint64_t)
cpdef int64_t offset_of(bytes records, uint64_t key, int64_t first, int64_t last, int64_t width) except -2

cdef class File:
    cdef dict __dict__

cdef class Column:
    cdef public object file, name, kind, at, size, checksum, width

@cython.final
cdef class CountRecords:
    cdef readonly object column, directory
    cdef int64_t bytes_to_verify, width, entry_width, first_count, count_width, start, directory_start
    cdef int handle
    cdef readonly int shift
    cdef dict latest
    cdef set verified

    @cython.locals(rows=dict, looked_up=dict, latest=dict, size=int64_t, entries=bytes, reads_all=bint, step=int64_t, start=int64_t, at=int64_t)
    cpdef dict rows(self, fingerprints)
    cdef int64_t entry_of(self, uint64_t fingerprint) noexcept
    @cython.locals(index=uint64_t, first=int64_t, last=int64_t, checksum=uint64_t, stretch=bytes,
                   size=int64_t, is_long=bint)
    cdef row_on_disk(self, uint64_t fingerprint, bytes entries, int64_t at)
    @cython.locals(counts=list, place=int64_t)
    cdef tuple row_at(self, bytes records, int64_t at)
