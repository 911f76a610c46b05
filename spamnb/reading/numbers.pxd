cimport cython
cimport libc.math as math

cimport spamnb.reading.unchecked as unchecked
from spamnb.reading.message cimport Message, Leaf

cdef bytes ASCII

@cython.locals(numbers=dict, size=Py_ssize_t, length=Py_ssize_t, leaf=Leaf, text=str, recipients=Py_ssize_t,
               name=str, value=str, date=str)
cpdef dict numbers_of(Message message, dict pages, list texts)

@cython.locals(counted=list, addresses=Py_ssize_t, text=str, colon=Py_ssize_t, size=Py_ssize_t, data=bytes)
cpdef tuple characters_of(list texts)

@cython.locals(start=Py_ssize_t, at=Py_ssize_t, capitals="unsigned char", letters="unsigned char", digits="unsigned char",
               exclamations="unsigned char", letter="unsigned char",
               upper="unsigned char", either="unsigned char", digit="unsigned char")
cdef int add_ascii(list counted, const unsigned char *data, Py_ssize_t size) except -1

cdef int add(list counted, int capitals, int letters, int digits, int exclamations) except -1

@cython.locals(char=Py_UCS4)
cdef int add_others(list counted, str chars) except -1
