# Classes of C, though without types: each takes a fifth of the time to make. Every delivery loads them.

cdef class Settings:
    cdef dict __dict__
