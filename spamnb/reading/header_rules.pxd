cimport cython
from libc.stdint cimport uint8_t

from spamnb.reading.features cimport Features
from spamnb.reading.words cimport Words

cdef dict RULES
cdef int HEAD, BODY
cdef int WORDS, SUBJECT, ADDRESSES, HOSTS, DOMAIN, ZONE
cdef bytes ADDRESS_SEPARATORS, HOST_SEPARATORS, IDENTIFIER_SEPARATORS
cdef uint8_t AT, COLON, DOT, ZERO, NINE, A, F

cpdef bint is_ignored(str name) except -1

@cython.locals(rule=int, tag=bytes, part=int, ngrams=int)
cpdef add_header(Features features, str name, str value, Words words, bint paired=*)

cdef bytes split_at(bytes separators, str value)

@cython.locals(data=bytes, at=Py_ssize_t, end=Py_ssize_t, read=int, domain=Py_ssize_t)
cdef add_addresses(Features features, bytes tag, str value)

@cython.locals(data=bytes, start=Py_ssize_t, host=bytes)
cdef add_domain(Features features, bytes tag, str value)

@cython.locals(words=list, zone=str, known=bytes)
cdef add_zone(Features features, bytes tag, str value)

@cython.locals(data=bytes, at=Py_ssize_t, end=Py_ssize_t, read=int, an_ipv6=bint)
cdef add_hosts(Features features, bytes tag, str value)

@cython.locals(dots=int, colons=int, first=Py_ssize_t, second=Py_ssize_t, before=Py_ssize_t, last=Py_ssize_t, digits=bint,
               hexadecimal=bint, gap=bint, doubled=bint, at=Py_ssize_t, letter=uint8_t, stop=Py_ssize_t)
cdef add_host(Features features, bytes tag, bytes data, Py_ssize_t start, Py_ssize_t end)
