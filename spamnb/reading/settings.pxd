# A class of C, though without types: with it a delivery starts 0.2 ms sooner.

cdef class Settings:
    cdef dict __dict__
