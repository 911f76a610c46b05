cimport cython
cdef int UNKNOWN, CLEAR, INHERITED, MAX_DIFFERENCE
cdef dict _COLOURS
@cython.final
cdef class Style:
    cdef readonly int gone, veiled, tiny, colour, ground, view
@cython.locals(style=Style)
cdef Style _style(int gone, int veiled, int tiny, int colour, int ground)
@cython.locals(style=Style, declared=Style)
cpdef Style style_of(bint hidden, bint link, bint sized, str colour, str ground, bint picture, str css)
@cython.locals(inner=Style, gone=int, veiled=int, tiny=int, colour=int, ground=int)
cpdef Style nested(Style around, Style style)
cdef bint _look_the_same(int one, int other) noexcept
@cython.locals(style=Style, declared=dict, too_small=int, colour=int, name=str, value=str, word=str, side=str)
cdef Style _declared(str css)
@cython.locals(declared=dict, declaration=str, name=str, colon=str, value=str)
cdef dict _declarations(str css)
@cython.locals(digits=str)
cdef double _length(str value) except? -9
@cython.locals(number=double, unit=str)
cdef int _is_tiny(str size) except? -9
@cython.locals(size=Py_ssize_t, start=Py_ssize_t, at=Py_ssize_t, short=bint, colour=int, digit=int, char=Py_UCS4)
cdef int _colour(str word, int default) except? -9
cdef int _rgb(str word, int default) except? -9
@cython.locals(colour=int)
cdef int _attribute_colour(str word) except? -9
