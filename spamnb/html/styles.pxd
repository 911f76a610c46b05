cimport cython
from spamnb.html.colours cimport attribute_colour, colour_of, leading_number, look_the_same, share
cdef int UNKNOWN, CLEAR, INHERITED
cdef double MIN_OPACITY
cdef dict _PIXELS
@cython.final
cdef class Style:
    cdef readonly int not_rendered, invisible, tiny, colour, background, view
    cdef public dict variables
@cython.locals(style=Style)
cdef Style _style(int not_rendered, int invisible, int tiny, int colour, int background)
@cython.locals(style=Style)
cpdef Style style_of(bint hidden, bint link, bint sized, str colour, str background, bint picture, Style declared)
@cython.locals(style=Style, plain=dict, important=dict)
cpdef Style declared_inline(str css)
@cython.locals(inner=Style, not_rendered=int, invisible=int, tiny=int, colour=int, background=int)
cpdef Style nested(Style around, Style style)
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
cdef bint _is_nothing(str size) except -1
@cython.locals(number=double, unit=str)
cdef int _is_tiny(str size) except? -9
