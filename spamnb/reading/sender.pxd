cimport cython

from spamnb.reading.features cimport Features, Tag

cdef int HEAD
cdef Tag FROM, AUTH
cdef frozenset READ

@cython.locals(first=dict, name=str, value=str, address=str, answered=str, to_itself=bint)
cpdef add_sender(Features features, list headers)

@cython.locals(data=bytes)
cdef add(Features features, Tag tag, str value)

@cython.locals(start=Py_ssize_t, piece=str)
cpdef str address_in(str value)

@cython.locals(at=Py_ssize_t)
cdef str domain_of(str address)

@cython.locals(found=set, looked_at=set, verified=bint, aligned=bint)
cdef add_results(Features features, str value, str domain)

@cython.locals(plain=str, server=str, results=list, domain=str)
cpdef tuple results_in(str value)

cpdef str spaced_out(str result)

@cython.locals(kept=list, depth=Py_ssize_t, quoted=bint, escaped=bint, start=Py_ssize_t, at=Py_ssize_t, char=Py_UCS4)
cpdef str without_comments(str value)
