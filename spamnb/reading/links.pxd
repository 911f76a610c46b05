cimport cython

from spamnb.reading.features cimport Features
from spamnb.reading.words cimport Words

cdef int BODY
cdef bytes _ENDS

@cython.locals(links=list, at=Py_ssize_t, before=str, scheme=str, form=str)
cpdef list links_in(str text)

@cython.locals(end=Py_ssize_t, stop=Py_ssize_t, char=Py_UCS4)
cdef str _link_at(str text, Py_ssize_t at)

@cython.locals(link=str)
cpdef add_links(Features features, list links, Words words)

@cython.locals(scheme=str, rest=str, inner=str)
cdef _add_link(Features features, str link, Words words)

@cython.locals(end=Py_ssize_t, host=str)
cdef _add_absolute_link(Features features, str scheme, str rest, Words words)

@cython.locals(a_number=bint, start=Py_ssize_t, dots=int, before=Py_UCS4, at=Py_ssize_t, domain=bytes)
cdef _add_host(Features features, str host)

cpdef str plain_host(str host)
cpdef str unquoted(str text)
