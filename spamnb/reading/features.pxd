cimport cython
from libc.stdint cimport uint8_t, uint64_t

cimport spamnb.reading.unchecked as unchecked
from spamnb.grams cimport GramSet
from spamnb.reading.token_table cimport TokenTable, number_in

cdef uint64_t FACTOR, PAIR_FACTOR, MASK
cdef uint8_t SPACE, QUOTE
cdef uint64_t ONES, SPACES, HIGHEST_BITS
cdef int ENTRY_BITS, LAST_ENTRY, _MOST_ADDED

cdef uint64_t mixed(uint64_t state, uint64_t eight) noexcept

@cython.final
cdef class Tag:
    cdef bytes text
    cdef size_t size
    cdef uint64_t state, eight
    cdef size_t shift

    @cython.locals(source="const unsigned char *", at=size_t, byte=uint64_t)
    cdef void take_text(self) except *

@cython.locals(whole=Tag)
cpdef uint64_t fingerprint_of(bytes token) except? 0xFFFFFFFFFFFFFFFF

cpdef uint64_t pair_fingerprint(str first, str second) except? 0xFFFFFFFFFFFFFFFF

cpdef str shortened(str word)

@cython.final
cdef class Features:
    cdef public dict numbers
    cdef public list order
    cdef dict _texts
    cdef dict _pair_numbers
    cpdef int token_count(self) except -1
    cdef bytearray text
    cdef TokenTable table, pair_table
    cdef GramSet gram_set
    cdef readonly list gram_texts
    cdef list full_tables, full_pair_tables
    cdef unsigned char* letters
    cdef size_t size, room
    cdef int first_number
    cdef public int added, left
    cdef uint64_t fingerprint

    cpdef start_anew(self)

    @cython.locals(size=size_t, to=size_t, source="const unsigned char *", text="unsigned char *", state=uint64_t, eight=uint64_t,
                   shift=size_t, at=size_t, bits=size_t, piece=uint64_t)
    cpdef int add(self, Tag tag, bytes data, size_t start, size_t end, int part, int times=*) except -2

    @cython.locals(number=int, table=TokenTable, used=int, entry=int)
    cdef int count(self, uint64_t fingerprint, Tag tag, size_t end, int part, int times) except -2

    cdef int make_room(self) except -1

    @cython.locals(which=int)
    cdef TokenTable table_of(self, int number)

    @cython.locals(data=bytes)
    cpdef add_token(self, str token, int part, int times=*)

    @cython.locals(known=bint)
    cdef int add_pair(self, uint64_t fingerprint, int first, int second, int part) except -1

    cpdef add_grams(self, bytes text, int part)

    @cython.locals(longest=size_t, words=int, before=int, fingerprint=uint64_t, run=list, size=size_t, at=size_t, start=size_t,
                   source="const unsigned char *", text="unsigned char *", to=size_t, piece=uint64_t, letters=uint64_t, found=uint64_t, bits=size_t,
                   state=uint64_t, eight=uint64_t, shift=size_t, whole=uint64_t, number=int, n=int)
    cpdef int add_words(self, Tag tag, bytes spaced, int most, int part, int ngrams=*, bint paired=*) except -1

    @cython.locals(word=str)
    cdef int add_long_or_quoted_word(self, Tag tag, bytes data, int part) except -2

    @cython.locals(gram=bytes)
    cdef add_ngrams(self, Tag tag, list run, int n, int part)

    @cython.locals(table=TokenTable, entry=int)
    cdef bytes text_of_number(self, int number)

    @cython.locals(tables=list, found=list, table=TokenTable, entry=int, fingerprint=uint64_t, part=int)
    cdef list _entries(self, bint of_pairs)

    @cython.locals(number=int, which=int, entry=int, table=TokenTable)
    cdef str _text_of_pair(self, uint64_t fingerprint)
