cimport cython
cdef int MAX_DIFFERENCE
cdef dict _COLOURS
cpdef bint look_the_same(int one, int other) noexcept
@cython.locals(size=Py_ssize_t, start=Py_ssize_t, at=Py_ssize_t, short=bint, colour=int, digit=int, char=Py_UCS4)
cpdef int colour_of(str word, int default) except? -9
@cython.locals(function=str, written=str, words=list, channels=list, colour=int, at=int, channel=double)
cdef int _function_colour(str word, int default) except? -9
@cython.locals(colour=int, shift=int, turn=double, channel=double)
cdef int _hsl(double hue, double saturation, double lightness) except? -9
@cython.locals(colour=int)
cpdef int attribute_colour(str word) except? -9
@cython.locals(number=double)
cpdef double share(str value) except? -9
@cython.locals(end=Py_ssize_t)
cpdef double leading_number(str value) except? -9
