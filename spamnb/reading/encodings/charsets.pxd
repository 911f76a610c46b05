cimport cython

cdef dict _codecs

@cython.locals(name=str)
cpdef str codec(str declared)

@cython.locals(words=list, name=str)
cdef str _find_codec(str declared)

@cython.locals(text=str, special=set)
cpdef str by_codec(bytes data, str name)

cdef dict _tables
cdef str _characters(str name)

cpdef bint is_utf8(bytes data) except -1

@cython.locals(lower=bytes, names=list, name=list, found=bytes, mark=bytes)
cpdef list names_in(bytes data)
