cimport cython
cdef tuple _STATES

@cython.locals(compounds=list, traits=list, word=str)
cpdef list compounds_of(str selector)
# Without these Cython chooses types by chance, and two builds differ.
@cython.locals(first=str, others=list, other=str, written=list, attribute=str, behind=str, name=str, value=str)
cpdef tuple without_attributes(str selector)
@cython.locals(names=list, classes=list, ids=list, start=Py_ssize_t, size=Py_ssize_t, at=Py_ssize_t, trait=str)
cdef list _traits(str compound)
