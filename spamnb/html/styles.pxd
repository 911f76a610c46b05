cimport cython
cdef int UNKNOWN, CLEAR, INHERITED, MAX_DIFFERENCE
cdef dict _PIXELS
cdef dict _COLOURS
@cython.final
cdef class Style:
    cdef readonly int gone, veiled, tiny, colour, ground, view
    cdef public dict variables
@cython.locals(style=Style)
cdef Style _style(int gone, int veiled, int tiny, int colour, int ground)
@cython.locals(style=Style)
cpdef Style style_of(bint hidden, bint link, bint sized, str colour, str ground, bint picture, Style declared)
@cython.locals(style=Style, plain=dict, important=dict)
cpdef Style declared_inline(str css)
@cython.locals(inner=Style, gone=int, veiled=int, tiny=int, colour=int, ground=int)
cpdef Style nested(Style around, Style style)
cdef bint _look_the_same(int one, int other) noexcept
@cython.locals(style=Style, too_small=int, colour=int, name=str, value=str, word=str, side=str)
cpdef Style declared_style(dict declared)
@cython.locals(side=str, name=str, word=str, value=str, function=str, distance=double)
cdef bint _is_out_of_view(dict declared) except -1
cdef bint _leaves_nothing(str function, list written) except -1
cpdef str plain_css(str css)
@cython.locals(size=Py_ssize_t, number=int)
cdef str _unescaped(str text)
@cython.locals(plain=dict, important=dict, declaration=str, name=str, colon=str, value=str, mark=str)
cpdef tuple declarations(str css)
@cython.locals(number=double)
cpdef double pixels(str value) except? -9
@cython.locals(number=double)
cdef double _share(str value) except? -9
cdef bint _is_nothing(str size) except -1
@cython.locals(digits=str)
cdef double _length(str value) except? -9
@cython.locals(number=double, unit=str)
cdef int _is_tiny(str size) except? -9
@cython.locals(size=Py_ssize_t, start=Py_ssize_t, at=Py_ssize_t, short=bint, colour=int, digit=int, char=Py_UCS4)
cdef int _colour(str word, int default) except? -9
@cython.locals(function=str, written=str, words=list, channels=list, colour=int, at=int, channel=double)
cdef int _function_colour(str word, int default) except? -9
@cython.locals(colour=int, shift=int, turn=double, part=double)
cdef int _hsl(double hue, double saturation, double lightness) except? -9
@cython.locals(colour=int)
cdef int _attribute_colour(str word) except? -9
