cimport cython

from spamnb.reading.encodings.charsets cimport by_codec, codec
from spamnb.reading.encodings.transfer cimport Undone, decode_base64, undo

@cython.final
cdef class Decoding:
    cdef readonly str text, encoding, why_encoding, charset, why_charset

@cython.locals(undone=Undone, text=str, name=str, why=str)
cpdef Decoding read_text(bytes body, str encoding, str declared, around)

cpdef str decode(bytes data, str declared=*, around=*)

@cython.locals(name=str, why=str)
cpdef tuple text_and_charset(bytes data, str declared, around=*)

@cython.locals(raw=bytes)
cpdef list readable_fields(list fields, around, str charset)

@cython.locals(out=list, words=list, charset=str, copied=Py_ssize_t, look=Py_ssize_t, start=Py_ssize_t, mark=Py_ssize_t,
               end=Py_ssize_t, blank=Py_ssize_t, coding=Py_UCS4, between=str, name=str, written=str, text=bytes, is_plain=bint)
cpdef str readable_value(str value, str raw_charset=*, around=*)
