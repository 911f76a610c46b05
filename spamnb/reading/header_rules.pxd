cimport cython
from libc.stdint cimport uint8_t

cimport spamnb.reading.unchecked as unchecked
from spamnb.reading.features cimport Features, Tag
from spamnb.reading.words cimport Words

cdef dict _kinds
cdef int LONGEST_NAME
cdef int HEAD, BODY
cdef int NOTHING, WORDS, SUBJECT, ADDRESSES, HOSTS, DOMAIN, ZONE
cdef bytes ADDRESS_SEPARATORS, HOST_SEPARATORS, IDENTIFIER_SEPARATORS
cdef uint8_t SPACE, AT, COLON, DOT, ZERO, NINE, A, F

cpdef bint is_ignored(str name) except -1

@cython.final
cdef class HeaderKind:
    cdef int rule, part
    cdef Tag presence, tag

@cython.locals(kind=HeaderKind)
cdef HeaderKind kind_of(str name)

cpdef bint is_read(str name) except -1

@cython.locals(kind=HeaderKind, rule=int, tag=Tag, ngrams=int)
cpdef add_header(Features features, str name, str value, Words words, bint paired=*)

cdef bytes split_at(bytes separators, str value)

@cython.locals(data=bytes, source="const unsigned char *", size=size_t, at=size_t, start=size_t, domain=size_t, left=int)
cdef int add_addresses(Features features, Tag tag, str value) except -1

@cython.locals(data=bytes, source="const unsigned char *", size=size_t, at=size_t, start=size_t, end=size_t)
cdef int add_domain(Features features, Tag tag, str value) except -1

@cython.locals(words=list, zone=str, known=bytes)
cdef int add_zone(Features features, Tag tag, str value) except -1

@cython.locals(date=Py_ssize_t, data=bytes, source="const unsigned char *", size=size_t, at=size_t, start=size_t, marked=bint, left=int, an_ipv6=bint)
cdef int add_hosts(Features features, Tag tag, str value) except -1

@cython.locals(source="const unsigned char *", dots=int, colons=int, first=Py_ssize_t, second=Py_ssize_t, before=Py_ssize_t, last=Py_ssize_t, digits=bint,
               hexadecimal=bint, gap=bint, doubled=bint, at=Py_ssize_t, letter=uint8_t, stop=Py_ssize_t, dotted=bytes)
cdef int add_host(Features features, Tag tag, bytes data, Py_ssize_t start, Py_ssize_t end) except -1
