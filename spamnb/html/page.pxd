cimport cython
from spamnb.html.entities cimport unescape
from spamnb.html.styles cimport Style, declared_inline, nested, style_of
cdef Py_ssize_t MAX_TAG, MAX_REOPENED
cdef int SEEN, UNSEEN, MAX_DEPTH
cdef Style LINK, OUTERMOST
cdef int _NEVER, _STYLED, _ALWAYS, _DROPPED, _HIDDEN, _SHOWN, _ROOT, _LINK, _FONT, _BODY, _IMAGE, _INPUT, _META, _SHEET
cdef int _HREF, _SRC, _BACKGROUND, _BGCOLOR, _COLOR, _IS_HIDDEN, _SIZE, _STYLE, _TEXT
cdef int _ALT, _CONTENT, _HTTP_EQUIV, _TYPE, _VALUE, _MEDIA, _CLASS, _ID, _TARGETS, _LOOKS
cdef int _NAME_END, _WORD_END, _VALUE_END, _SPACE
cdef int _EXCLAMATION, _QUOTE, _APOSTROPHE, _DASH, _SLASH, _LESS, _EQUALS, _GREATER, _QUESTION
cdef list _ATTRIBUTES, _KINDS, _NAMES, _SPELLED
cdef dict _NUMBERS
cdef tuple _LABELLED
cdef bytes _CLASSES, _LOWER
cdef str _WIDE_SPACES
cdef bytearray _ATTRIBUTE_SLOTS, _KIND_SLOTS
cdef int _TABLE, _UL, _OL, _LI
cdef bytes _as_bytes(str html)
cdef int _slot(int first, int last, int length) noexcept
@cython.locals(kind=_Kind, spelled=bytes, slot=int)
cdef _fill_slots()

@cython.final
cdef class Page:
    cdef public str text, hidden
    cdef public list links, images, labels
    cdef public dict tags

@cython.final
cdef class _Kind:
    cdef str name, gap
    cdef tuple ends
    cdef int followed, number, raw, role
    cdef bint cell, loose, picture

@cython.final
cdef class _Element:
    cdef str name
    cdef _Kind kind
    cdef Py_ssize_t tags
    cdef int innermost

@cython.final
cdef class _Frame:
    cdef _Element element
    cdef Style own_style, style
    cdef int innermost
    cdef tuple parts

@cython.locals(reader=_Reader, page=Page)
cpdef Page render(str html)

@cython.final
cdef class _Reader:
    cdef str html
    cdef bytes data
    cdef Py_ssize_t size, amp, unquoted, too_deep, label_start
    cdef Page page
    cdef list frames, shown, hidden, known, tags, values
    cdef dict others
    cdef _Element table, unordered, ordered, item
    cdef Style style
    cdef int depth, view, seen
    cdef object sheet
    cdef tuple parts
    cdef bint late, whole
    @cython.locals(data=bytes, page=Page, size=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t, element=_Element)
    cdef Page read(self)
    @cython.locals(text=str)
    cdef str _text(self, Py_ssize_t start, Py_ssize_t end, bint attribute)
    @cython.locals(text=str)
    cdef _put(self, Py_ssize_t start, Py_ssize_t end)
    cdef _put_gap(self, str gap)
    @cython.locals(view=int)
    cdef _update_view(self)
    @cython.locals(data=bytes, size=Py_ssize_t, first=int, second=int)
    cdef Py_ssize_t _after_markup(self, Py_ssize_t at) except -1
    @cython.locals(data=bytes, size=Py_ssize_t)
    cdef Py_ssize_t _after_next(self, Py_ssize_t at) except -1
    @cython.locals(html=str)
    cdef Py_ssize_t _after_comment(self, Py_ssize_t at) except -1
    @cython.locals(data=bytes)
    cdef Py_ssize_t _name_end(self, Py_ssize_t at, Py_ssize_t limit) except -1
    @cython.locals(slot=int, number=int, element=_Element, name=str)
    cdef _Element _element(self, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(element=_Element)
    cdef _Element _known(self, int number)
    @cython.locals(end=Py_ssize_t, element=_Element, kind=_Kind)
    cdef Py_ssize_t _after_end_tag(self, Py_ssize_t at) except -1
    @cython.locals(end=Py_ssize_t, limit=Py_ssize_t, after=Py_ssize_t, gone=bint, number=int,
                   element=_Element, other=_Element, kind=_Kind, own_style=Style, label=str)
    cdef Py_ssize_t _after_start_tag(self, Py_ssize_t at) except -1
    @cython.locals(html=str, end_tag=str, end=Py_ssize_t, behind=Py_ssize_t, char=Py_UCS4)
    cdef Py_ssize_t _after_raw(self, _Element element, Py_ssize_t start) except -1
    @cython.locals(element=_Element)
    cdef _add_sheet(self, str css)
    @cython.locals(end=Py_ssize_t)
    cdef Py_ssize_t _read_attributes(self, Py_ssize_t at, Py_ssize_t start, Py_ssize_t limit) except -1
    @cython.locals(data=bytes, start=Py_ssize_t, name=Py_ssize_t, name_end=Py_ssize_t, char=int)
    cdef Py_ssize_t _scan(self, Py_ssize_t at, Py_ssize_t limit) except -2
    @cython.locals(number=int)
    cdef _note(self, Py_ssize_t name, Py_ssize_t name_end, Py_ssize_t start, Py_ssize_t end)
    cdef _note_bare(self, Py_ssize_t name, Py_ssize_t name_end)
    cdef str _value(self, int number)
    @cython.locals(css=str)
    cdef Style _own_style(self, int role)
    @cython.locals(css=str, matched=tuple, declared=Style)
    cdef Style _sheet_style(self, _Element element, object sheet, str tag)
    cdef Style _styled(self, int role, Style declared)
    cdef str _label(self, int role)
    @cython.locals(links=list, images=list, number=int, is_image=bint)
    cdef _note_targets(self, _Kind kind)
    @cython.locals(label=str)
    cdef _end_label(self)
    @cython.locals(depth=int)
    cdef bint _is_open(self, _Element element) noexcept
    @cython.locals(frame=_Frame)
    cdef _enter(self, _Element element, Style own_style, tuple parts)
    @cython.locals(at=int, end=int, held=list, stay=list, frame=_Frame)
    cdef _leave(self, _Element element)

@cython.locals(element=_Element)
cdef _Element _new_element(str name, _Kind kind)
cdef bint _is_letter(int char) noexcept
@cython.locals(at=Py_ssize_t)
cdef bint _equal(bytes data, Py_ssize_t start, Py_ssize_t end, bytes name) except -1
@cython.locals(target=str)
cdef _add_target(list targets, str value)
