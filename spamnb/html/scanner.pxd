cimport cython
from spamnb.html.entities cimport unescape
cdef dict ATTRIBUTES
cdef int CLASS, IS_HIDDEN, LONGEST_ATTRIBUTE
cdef int _QUOTE, _APOSTROPHE, _SLASH, _EQUALS, _GREATER
cdef int _NAME_END, _WORD_END, _VALUE_END, _SPACE
cdef bytes _CLASSES

@cython.final
cdef class Scanner:
    cdef str html
    cdef bytes data
    cdef Py_ssize_t size, amp, unquoted
    cdef int seen
    cdef list values
    cdef bint with_classes
    cdef str value(self, int number)
    @cython.locals(text=str)
    cdef str text(self, Py_ssize_t start, Py_ssize_t end, bint attribute)
    @cython.locals(data="const unsigned char *", size=Py_ssize_t)
    cdef Py_ssize_t skip_past_gt(self, Py_ssize_t at) except -1
    @cython.locals(end=Py_ssize_t)
    cdef Py_ssize_t skip_comment(self, Py_ssize_t at) except -1
    @cython.locals(data="const unsigned char *", classes="const unsigned char *")
    cdef Py_ssize_t skip_name(self, Py_ssize_t at, Py_ssize_t limit) except -1
    @cython.locals(html=str, end_tag=str, end=Py_ssize_t, behind=Py_ssize_t, char=Py_UCS4)
    cdef Py_ssize_t find_end_tag(self, str name, Py_ssize_t start) except -1
    @cython.locals(end=Py_ssize_t)
    cdef Py_ssize_t read_attributes(self, Py_ssize_t at, Py_ssize_t start, Py_ssize_t limit) except -1
    @cython.locals(data="const unsigned char *", classes="const unsigned char *", start=Py_ssize_t, name=Py_ssize_t, name_end=Py_ssize_t,
                   char=int)
    cdef Py_ssize_t _scan(self, Py_ssize_t at, Py_ssize_t limit) except -2
    @cython.locals(number=int)
    cdef _note(self, Py_ssize_t name, Py_ssize_t name_end, Py_ssize_t start, Py_ssize_t end)
    cdef _note_bare(self, Py_ssize_t name, Py_ssize_t name_end)

@cython.locals(target="unsigned char *", at=Py_ssize_t, char=Py_UCS4, code=Py_UCS4)
cdef bytes _as_bytes(str html)
