cimport cython
cdef frozenset _DAYS, _MONTHS
cdef bytes _PLACES
@cython.final
cdef class _Lookahead:
    cdef object blocks
    cdef bytearray data
    cdef bint quoted
    cdef bint read_more(self) except -1
    cdef bint reach(self, Py_ssize_t size) except -1
    cdef Py_ssize_t skip(self, Py_ssize_t most, Py_ssize_t at) except -1
    cdef void drop(self, Py_ssize_t end) except *
    @cython.locals(data=bytearray, places=bytes, look=size_t, place=size_t, hit=size_t, before=int,
                   rest=bint)
    cdef Py_ssize_t from_line(self, size_t at, size_t end) except -2
cpdef bint is_envelope(text) except -1
@cython.locals(line=bytes, line_end=bytes, rest=bytes, name=bytes, day=bint, month=bint, word=bytes)
cdef bint _ends_well(bytes text) except -1
@cython.locals(data=bytearray, hit=Py_ssize_t)
cdef Py_ssize_t _end_by_line(_Lookahead ahead, Py_ssize_t at, Py_ssize_t most) except -1
@cython.locals(data=bytearray, message=bytes)
cdef bytes _message(_Lookahead ahead, Py_ssize_t start, Py_ssize_t end)
@cython.locals(parts=list, at=Py_ssize_t, taken=Py_ssize_t, looked=Py_ssize_t, line=Py_ssize_t, at_line=bint)
cdef bytes _unquoted(bytes data)
