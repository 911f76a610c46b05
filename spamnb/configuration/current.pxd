# Classes of C, though without types: each takes a fifth of the time to make. Every delivery loads them.

cdef class Configuration:
    cdef dict __dict__
