# Classes of C, though without types: each takes a fifth of the time to make. Every delivery loads them.

cdef class ClassifyCommand:
    cdef dict __dict__

cdef class LearnCommand:
    cdef dict __dict__
