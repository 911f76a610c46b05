cimport cython

cimport spamnb.reading.unchecked as unchecked
from spamnb.reading.features cimport Features, Tag
from spamnb.reading.message cimport Leaf, Message, shares
from spamnb.reading.header_rules cimport add_header, is_read
from spamnb.reading.links cimport add_links, links_in
from spamnb.reading.sender cimport add_sender
from spamnb.reading.words cimport Words, plain_typography, word_count

cdef int HEAD, BODY
cdef Tag SUBJECT, FILE, HIDDEN, NO_TAG

@cython.final
cdef class Tokenizer:
    cdef public object settings
    cdef public Words words
    cdef object _numbers_of

    @cython.locals(features=Features, pages=dict, texts=list, links=list, text=str, plain=str, hidden=list, spaced=list, ngrams=int, leaf=Leaf)
    cpdef Features features(self, Message message, bint numbers=*, Features spare=*)

    @cython.locals(most=Py_ssize_t, most_of_one=Py_ssize_t, head=bytearray, size=Py_ssize_t, is_sent=bint, name=str, value=str)
    cdef bytes _head_of_grams(self, Message message)

    @cython.locals(subject=bytes)
    cdef _add_head(self, Features features, Message message)

    @cython.locals(name=str, value=str, a_subject=bint, subject=bytes, leaf=Leaf)
    cdef _add_headers(self, Features features, Message message, bint paired)

    @cython.locals(name=str)
    cdef _add_leaf(self, Features features, Leaf leaf)

    @cython.locals(stem=str, ending=str)
    cdef _add_file(self, Features features, str name)

    @cython.locals(tag=str, times=int)
    cdef _add_pages(self, Features features, list pages)

    @cython.locals(sizes=list, which=int, share=int)
    cdef _add_texts(self, Features features, Tag tag, list texts, int most, int ngrams, bint paired)

@cython.locals(to="unsigned char *", room=Py_ssize_t, size=Py_ssize_t, data=bytes)
cdef Py_ssize_t put(bytearray head, Py_ssize_t at, str text, Py_ssize_t most) except -1

cpdef str printable(str text)
