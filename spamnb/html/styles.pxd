cimport cython
from spamnb.html.colours cimport attribute_colour, colour_of, leading_number, look_the_same, share
cdef int UNKNOWN, CLEAR, INHERITED
cdef double MIN_OPACITY
cdef dict _PIXELS, PROPERTIES
cdef int _HIDES, _PLACES, _CUTS, _SIZES, _COLOURS_TEXT, _PAINTS
cdef tuple _BACKGROUNDS, _COLOURS, _FONTS, _SIDES, _MARGINS, _EXTENTS, _MOVES
@cython.final
cdef class Style:
    cdef readonly int not_rendered, invisible, tiny, colour, background, view
    cdef public dict variables
@cython.locals(style=Style)
cdef Style _style(int not_rendered, int invisible, int tiny, int colour, int background)
@cython.locals(style=Style)
cpdef Style style_of(bint hidden, bint link, bint sized, str colour, str background, bint picture, Style declared)
@cython.locals(style=Style, known=dict, plain=dict, important=dict)
cpdef Style declared_inline(str css)
@cython.locals(inner=Style, not_rendered=int, invisible=int, tiny=int, colour=int, background=int)
cpdef Style nested(Style around, Style style)
@cython.locals(style=Style, done=int, too_small=int, colour=int, name=str, value=str, word=str, side=str)
cpdef Style declared_style(dict declared)
@cython.locals(side=str, name=str, word=str, value=str, function=str, distance=double)
cdef bint _is_out_of_view(dict declared) except -1
cdef bint _leaves_nothing(str function, list written) except -1
cpdef str plain_css(str css)
@cython.locals(size=Py_ssize_t, number=int)
cdef str _unescaped(str text)
@cython.locals(plain=dict, important=dict, start=Py_ssize_t, end=Py_ssize_t, colon=Py_ssize_t, mark=Py_ssize_t, name=str,
               value=str)
cpdef tuple declarations(str css, Py_ssize_t longest)
cdef str _stripped(str text, Py_ssize_t start, Py_ssize_t end)
@cython.locals(number=double)
cpdef double pixels(str value) except? -9
cdef bint _is_nothing(str size) except -1
@cython.locals(number=double, unit=str)
cdef int _is_tiny(str size) except? -9
