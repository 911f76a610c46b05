cimport cython
from spamnb.html.elements cimport Kind
from spamnb.html.styles cimport Style, nested
cdef dict KINDS
cdef Kind OTHER

@cython.final
cdef class Element:
    cdef str name
    cdef Kind kind
    cdef Py_ssize_t tags, innermost

@cython.final
cdef class _Frame:
    cdef Element element
    cdef Style style
    cdef Py_ssize_t innermost
    cdef tuple traits

@cython.final
cdef class Nesting:
    cdef object sheet
    cdef dict elements
    cdef Element table
    cdef list frames
    cdef Style style
    @cython.locals(element=Element, kind=Kind)
    cdef Element element(self, str name)
    cdef bint is_open(self, Element element) except -1
    cdef enter(self, Element element, Style own_style, tuple traits)
    @cython.locals(depth=Py_ssize_t, frame=_Frame)
    cdef leave(self, Element element)
