cimport cython

@cython.locals(capitals=Py_ssize_t, letters=Py_ssize_t, digits=Py_ssize_t, exclamations=Py_ssize_t, addresses=Py_ssize_t,
               text=str, char=Py_UCS4)
cpdef tuple characters_of(list texts)
