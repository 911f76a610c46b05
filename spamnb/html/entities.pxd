cimport cython
cdef Py_ssize_t LONGEST_NAME
cdef int _BEYOND
cdef str _UNKNOWN, _WINDOWS
cdef dict _BARE, _NAMED
@cython.locals(pieces=list, at=Py_ssize_t, done=Py_ssize_t, end=Py_ssize_t, size=Py_ssize_t, char=Py_UCS4)
cpdef str unescape(str text, bint attribute=*)
@cython.locals(at=Py_ssize_t, first=Py_ssize_t, base=int, code=int, digit=int)
cdef Py_ssize_t _add_number(list pieces, str text, Py_ssize_t start, Py_ssize_t end) except -1
cdef int _digit(Py_UCS4 char) noexcept
@cython.locals(first=Py_ssize_t, word_end=Py_ssize_t, char=Py_UCS4, letter=str)
cdef Py_ssize_t _add_name(list pieces, str text, Py_ssize_t start, Py_ssize_t end, bint attribute) except -1
cdef bint _is_alphanumeric(Py_UCS4 char) noexcept
