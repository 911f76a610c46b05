cimport cython

from spamnb.reading.message cimport Message, Part

@cython.locals(numbers=dict, size=Py_ssize_t, length=Py_ssize_t, shown=list, part=Part, text=str, recipients=Py_ssize_t,
               name=str, value=str, date=str)
cpdef dict numbers_of(Message message, dict pages)

@cython.locals(capitals=Py_ssize_t, small=Py_ssize_t, digits=Py_ssize_t, exclamations=Py_ssize_t, addresses=Py_ssize_t,
               text=str, colon=Py_ssize_t, data=bytes, letter="unsigned char", rest=str, char=Py_UCS4)
cpdef tuple characters_of(list texts)
