cimport cython

from spamnb.reading.features cimport Features, Tag
from spamnb.reading.headers cimport HeaderBlock
from spamnb.reading.words cimport Words

cdef int HEAD
cdef Tag FROM, AUTH
cdef frozenset READ, KNOWN_NAMES, IN_DOMAIN, IN_LOCAL_PART, IN_NAME, CONTROLS
cdef str UNCLOSED

@cython.locals(first=dict, name=str, value=str, shown=str, address=str, answered=str, to_itself=bint)
cpdef add_sender(Features features, list headers, Words words)

@cython.locals(data=bytes)
cdef add(Features features, Tag tag, str value)

@cython.locals(start=Py_ssize_t, piece=str)
cdef tuple name_and_address(str value)

@cython.locals(name=str, bracket=str, address=str, after=str, local=str, domain=str, part=str, letters=frozenset, char=str,
               word=str)
cpdef str sole_address(str value)

@cython.locals(data=bytes, start=Py_ssize_t, block=HeaderBlock, first=dict, name=str, value=str, senders=list, results=list,
               address=str, shown=str)
cpdef tuple read_head(bytes raw)

cdef bint is_whole(HeaderBlock block, bytes data, Py_ssize_t size) except -1

@cython.locals(trusted=str, value=str, server=str, result=str, method=str, found=str)
cpdef bint fails_dmarc(list fields) except -1

@cython.locals(at=Py_ssize_t)
cdef str domain_of(str address)

@cython.locals(piece=str, word=bytes)
cdef add_display_name(Features features, str shown, list words, str address)

@cython.locals(found=set, looked_at=set, verified=bint, aligned=bint)
cdef add_results(Features features, str value, str domain)

@cython.locals(server=str, results=list)
cdef tuple results_in(str value)

cdef str spaced_out(str result)

@cython.locals(kept=list, depth=Py_ssize_t, quoted=bint, escaped=bint, start=Py_ssize_t, at=Py_ssize_t, char=Py_UCS4)
cdef str without_comments(str value)
