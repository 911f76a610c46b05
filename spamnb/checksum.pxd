cimport cython
from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t ALL_ONES, POLYNOMIAL
cdef int BLOCK, REST
cdef bint COMPILED
cdef uint32_t[2048] remainders

@cython.locals(source="const unsigned char *", at=Py_ssize_t, size=Py_ssize_t, found=uint32_t, later=uint32_t,
               fourth=uint32_t)
cpdef uint32_t crc32(bytes data, uint32_t before=*) except? 0xFFFFFFFF

@cython.locals(work=bytearray, window="unsigned char *", source="const unsigned char *", at=Py_ssize_t, size=Py_ssize_t, place=Py_ssize_t, step=Py_ssize_t,
               earlier=uint8_t)
cdef bytes folded(bytes data, uint32_t start)

@cython.locals(byte=int, place=int, remainder=uint32_t)
cdef int _fill_remainders() except -1
