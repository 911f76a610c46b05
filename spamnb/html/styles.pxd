cimport cython
cdef int UNKNOWN, CLEAR, INHERITED, MAX_DIFFERENCE
cdef double MIN_OPACITY
cdef dict _PIXELS, _COLOURS

@cython.final
cdef class Style:
    cdef readonly int not_rendered, invisible, tiny, colour, background, view

@cython.locals(style=Style)
cdef Style _style(int not_rendered, int invisible, int tiny, int colour, int background)
@cython.locals(style=Style)
cpdef Style style_of(bint hidden, bint link, str colour, str background, bint picture, Style declared)
@cython.locals(style=Style, known=dict, plain=dict, important=dict)
cpdef Style declared_inline(str css)
@cython.locals(inner=Style, not_rendered=int, invisible=int, tiny=int, colour=int, background=int)
cpdef Style nested(Style around, Style style)
@cython.locals(style=Style, colour=int, name=str, value=str, word=str, side=str)
cpdef Style declared_style(dict declared)
cpdef str plain_css(str css)
@cython.locals(plain=dict, important=dict, start=Py_ssize_t, end=Py_ssize_t, colon=Py_ssize_t, name=str, value=str, mark=str)
cpdef tuple declarations(str css, Py_ssize_t longest)
cdef bint look_the_same(int one, int other) noexcept
cdef int colour_of(str word, int default) except? -9
cdef int attribute_colour(str word) except? -9
@cython.locals(number=double)
cpdef double pixels(str value) except? -9
@cython.locals(end=Py_ssize_t)
cdef double leading_number(str value) except? -9
