cimport cython

from spamnb.reading.headers cimport HeaderBlock
from spamnb.reading.message cimport Message

cdef frozenset IN_DOMAIN, IN_LOCAL_PART, IN_NAME, CONTROLS

@cython.locals(fields=list)
cpdef envelope_of(Message message)

@cython.locals(data=bytes, start=Py_ssize_t, block=HeaderBlock)
cpdef read_envelope(bytes raw)

cdef bint _is_whole(list fields, bytes data, Py_ssize_t body, Py_ssize_t size) except -1

@cython.locals(at=Py_ssize_t, lines=bytes, behind=bytes)
cdef bint _is_plain(bytes head) except -1

@cython.locals(name=str, bracket=str, address=str, after=str, local=str, domain=str, part=str, letters=frozenset, char=str,
               word=str)
cpdef str sole_address(str value)

@cython.locals(trusted=str, value=str, server=str, result=str, method=str, found=str, domain=str, looked_at=str)
cpdef bint fails_dmarc(list fields, str address=*) except -1
