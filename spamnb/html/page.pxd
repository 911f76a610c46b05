cimport cython
from spamnb.html.elements cimport Kind
from spamnb.html.entities cimport unescape
from spamnb.html.nesting cimport Element, Nesting
from spamnb.html.scanner cimport Scanner
from spamnb.html.styles cimport Style, declared_inline, style_of
cdef Py_ssize_t MAX_TAG, MAX_PIECES
cdef int SEEN, UNSEEN
cdef int ALWAYS, STYLED, HIDDEN, SHOWN, ROOT, BODY, LINK, IMAGE, INPUT, SHEET
cdef int HREF, SRC, BACKGROUND, BGCOLOR, COLOR, IS_HIDDEN, STYLE, TEXT
cdef int ALT, TYPE, VALUE, MEDIA, CLASS, ID, TARGETS, LOOKS
cdef int _EXCLAMATION, _DASH, _SLASH, _LESS, _GREATER, _QUESTION
cdef tuple _NO_TRAITS, _TYPES_THAT_SHOW_VALUE

@cython.final
cdef class Page:
    cdef public str text, hidden
    cdef public list links, images
    cdef public dict tags
    cdef public Py_ssize_t work

@cython.locals(reader=_PageReader, page=Page)
cpdef Page render(str html, Py_ssize_t most=*)

@cython.final
cdef class _PageReader:
    cdef Scanner scanner
    cdef Nesting nesting
    cdef Page page
    cdef list shown, hidden, shown_texts, hidden_texts
    cdef int view
    cdef Py_ssize_t work, most
    cdef bint sheet_is_late, sheet_is_whole
    @cython.locals(data="const unsigned char *", page=Page, size=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t, name=str, element=Element)
    cdef Page read(self)
    cdef _join_pieces(self)
    cdef Py_ssize_t _all_work(self) except -1
    cdef bint may_style(self) except -1
    @cython.locals(text=str)
    cdef _put(self, Py_ssize_t start, Py_ssize_t end)
    cdef _put_gap(self, str gap)
    @cython.locals(view=int)
    cdef _update_view(self)
    @cython.locals(scanner=Scanner, data="const unsigned char *", size=Py_ssize_t, first=int, second=int)
    cdef Py_ssize_t _after_markup(self, Py_ssize_t at) except -1
    @cython.locals(scanner=Scanner, end=Py_ssize_t, element=Element, kind=Kind)
    cdef Py_ssize_t _after_end_tag(self, Py_ssize_t at) except -1
    @cython.locals(scanner=Scanner, nesting=Nesting, end=Py_ssize_t, limit=Py_ssize_t, after=Py_ssize_t, not_rendered=bint,
                   element=Element, kind=Kind, own_style=Style, traits=tuple, text=str)
    cdef Py_ssize_t _after_start_tag(self, Py_ssize_t at) except -1
    @cython.locals(html=str, end=Py_ssize_t)
    cdef Py_ssize_t _after_raw(self, Element element, Py_ssize_t start) except -1
    @cython.locals(element=Element)
    cdef _add_sheet(self, str css)
    cdef object _sheet(self)
    @cython.locals(scanner=Scanner, role=int, css=str, is_link=bint, matched=list, declared=Style)
    cdef Style _own_style(self, Element element)
    cdef str _text_in_place(self, int role)
    @cython.locals(scanner=Scanner, links=list, images=list, number=int, is_image=bint)
    cdef _note_targets(self, Kind kind)

cdef bint _is_letter(int char) noexcept
@cython.locals(target=str)
cdef _add_target(list targets, str value)
