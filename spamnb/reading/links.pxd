cimport cython

cimport spamnb.reading.unchecked as unchecked
from spamnb.reading.features cimport Features, Tag
from spamnb.reading.words cimport Words

cdef int BODY
cdef int LONGEST_SCHEME, LONGEST_HOST, MOST_PATH_WORDS, MOST_DOMAINS
cdef Tag URL, PATH
cdef unsigned char DOT, PERCENT
cdef bytes _ENDS, _USUAL, _HEX
cdef str _NOT_FIRST, _SCHEME_LETTERS

@cython.locals(links=list, most=Py_ssize_t, size=Py_ssize_t, room=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t, starts=dict, form=str, found=list)
cpdef list links_in(str text)

@cython.locals(end=Py_ssize_t, stop=Py_ssize_t, char=Py_UCS4)
cdef Py_ssize_t _link_end(str text, Py_ssize_t at) except -1

@cython.locals(link=str)
cpdef add_links(Features features, list links, Words words)

@cython.locals(colon=Py_ssize_t, inner=str)
cdef int _add_link(Features features, str link, Words words) except -1

@cython.locals(start=Py_ssize_t, end=Py_ssize_t, size=Py_ssize_t, closing=Py_UCS4, stop=Py_ssize_t, in_brackets=bint, host=str)
cdef int _add_absolute_link(Features features, str link, Py_ssize_t slashes, Words words) except -1

@cython.locals(data=bytes, size=size_t, start=size_t, dots=int, before="unsigned char", at=size_t, end=size_t, number=str)
cdef _add_host(Features features, str host)

@cython.locals(size=Py_ssize_t, last=Py_ssize_t, before=Py_ssize_t)
cpdef str registrable(str host)

cpdef str plain_host(str host)

@cython.locals(source="const unsigned char *", at=Py_ssize_t)
cdef bint is_usual(str host) except -1

@cython.locals(data=bytes, plain=bytearray, at=Py_ssize_t, to=Py_ssize_t, size=Py_ssize_t)
cpdef str unquoted(str text)
