cimport cython
cimport libc.math as math
from spamnb.reading.message cimport Leaf, Message

@cython.locals(leaf=Leaf)
cpdef dict numbers_of(Message message, dict pages, list texts)
