# Pieces of a message's bytes, and the memory that is allocated while one message is read.
#
# A `Text` is a pointer to bytes of the message or of an arena, and their number; it owns no memory. All bytes of mail
# are read with `byte_at` and the functions below, which check bounds: a read outside of a text returns END. An `Arena`
# allocates memory that stays where it is until the arena is cleared for the next message. A `Writer` appends bytes to a
# text in an arena, and allocates more memory by itself.
#
# Functions that allocate memory return 0, or -1 with a MemoryError; the others cannot fail.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset, strlen
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeLatin1, PyUnicode_DecodeUTF8

ctypedef Py_ssize_t Size
ctypedef unsigned char Byte
ctypedef uint32_t Char  # a character: its number in Unicode

cdef enum:
    END = -1  # in place of a byte outside of a text
    NOWHERE = -1  # in place of an offset or a number that does not exist
    FIRST_BLOCK = 1 << 16  # bytes; each further block is as large as all before it together
    MAX_KEPT = 1 << 22  # bytes of an arena that are kept for the next message


cdef struct Text:
    const Byte *at
    Size size


cdef struct Block:
    Block *next
    Size room
    Size used
    # the memory itself follows


cdef struct Arena:
    Block *first
    Block *now  # from which memory is allocated; the blocks behind it are empty
    Size total  # bytes of all blocks


cdef struct Writer:
    Arena *arena
    Byte *at
    Size size
    Size room


cdef struct Texts:
    Text *items
    Size count
    Size room


# Texts

cdef extern from *:
    """
    /* Count the bytes from `first` on, `range` values of them: in C, as compilers do 16 at a time where sums fit a byte. */
    static Py_ssize_t spamnb_count_range(const uint8_t *at, Py_ssize_t size, uint8_t first, uint8_t range) {
        Py_ssize_t found = 0;
        while (size > 0) {
            Py_ssize_t n, some = size < 255 ? size : 255;
            uint8_t sum = 0;
            for (n = 0; n < some; n++) sum += (uint8_t)(at[n] - first) < range;
            found += sum, at += some, size -= some;
        }
        return found;
    }

    static int spamnb_is_all_ascii(const uint8_t *at, Py_ssize_t size) {
        uint64_t words[4];
        uint8_t rest = 0;
        for (; size >= 32; at += 32, size -= 32) {
            memcpy(words, at, 32);
            if ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) return 0;
        }
        while (size > 0) rest |= at[--size];
        return rest < 0x80;
    }
    """
    Size count_range "spamnb_count_range"(const Byte *at, Size size, Byte first, Byte range) noexcept nogil
    bint is_all_ascii "spamnb_is_all_ascii"(const Byte *at, Size size) noexcept nogil


cdef inline int byte_at(Text text, Size at) noexcept nogil:
    """Return a byte of a text; END if the offset is outside the text."""
    return <int>text.at[at] if <size_t>at < <size_t>text.size else END


cdef inline Text nothing() noexcept nogil:
    """Return an empty text."""
    cdef Text text
    text.at, text.size = <const Byte *>b"", 0
    return text


cdef inline Text literal(const char *letters) noexcept nogil:
    """Return a string literal as a text, as in literal(b"charset=")."""
    cdef Text text
    text.at, text.size = <const Byte *>letters, strlen(letters)
    return text


cdef inline Text piece(Text text, Size start, Size end) noexcept nogil:
    """Return the bytes from `start` to `end` of a text; offsets outside the text are moved to its edges."""
    start = min(max(start, 0), text.size)
    end = min(max(end, start), text.size)
    text.at += start
    text.size = end - start
    return text


cdef inline Text rest(Text text, Size start) noexcept nogil:
    """Return the bytes of a text from offset `start` on."""
    return piece(text, start, text.size)


cdef inline bint equal(Text text, Text other) noexcept nogil:
    return text.size == other.size and memcmp(text.at, other.at, text.size) == 0


cdef inline bint is_(Text text, const char *letters) noexcept nogil:
    """Return whether a text equals a string literal, as in is_(name, b"subject")."""
    return equal(text, literal(letters))


cdef inline bint is_at(Text text, Size at, Text sought) noexcept nogil:
    """Return whether a text has `sought` at offset `at`."""
    return 0 <= at <= text.size - sought.size and memcmp(text.at + at, sought.at, sought.size) == 0


cdef inline bint starts_with(Text text, const char *letters) noexcept nogil:
    return is_at(text, 0, literal(letters))


cdef inline bint ends_with(Text text, const char *letters) noexcept nogil:
    return is_at(text, text.size - <Size>strlen(letters), literal(letters))


cdef inline Size find_byte(Text text, int byte, Size start) noexcept nogil:
    """Return the offset of the first `byte` from `start` on; NOWHERE if there is none."""
    if start < 0 or start >= text.size:
        return NOWHERE
    cdef const Byte *found = <const Byte *>memchr(text.at + start, byte, text.size - start)
    return found - text.at if found is not NULL else NOWHERE


cdef inline Size find_last(Text text, int byte, Size end) noexcept nogil:
    """Return the offset of the last `byte` before `end`; NOWHERE if there is none."""
    cdef Size at = min(end, text.size) - 1
    while at >= 0 and text.at[at] != byte:
        at -= 1
    return at


cdef Size find(Text text, Text sought, Size start) noexcept nogil:
    """Return the offset of the first `sought` from `start` on, or NOWHERE; fast if its first byte is rare."""
    cdef Size at = start
    if sought.size == 0:
        return start if 0 <= start <= text.size else NOWHERE
    while True:
        at = find_byte(text, sought.at[0], at)
        if at < 0 or at + sought.size > text.size:
            return NOWHERE
        if memcmp(text.at + at, sought.at, sought.size) == 0:
            return at
        at += 1


cdef inline bint has(Text text, int byte) noexcept nogil:
    return find_byte(text, byte, 0) >= 0


cdef inline Size or_end(Text text, Size at) noexcept nogil:
    """Return `at`, or the size of the text if `at` is NOWHERE."""
    return at if at >= 0 else text.size


cdef inline bint contains(Text text, const char *letters) noexcept nogil:
    return find(text, literal(letters), 0) >= 0


cdef inline Size count_byte(Text text, int byte) noexcept nogil:
    return count_range(text.at, text.size, byte, 1)


cdef inline Size count_high(Text text) noexcept nogil:
    """Return how many bytes of a text are above 0x7f, so not ASCII."""
    return count_range(text.at, text.size, 0x80, 0x80)


cdef inline bint is_ascii(Text text) noexcept nogil:
    return is_all_ascii(text.at, text.size)


cdef inline int lower(int byte) noexcept nogil:
    """Return an ASCII letter in lower case; any other byte is returned unchanged."""
    return byte | 32 if 65 <= byte <= 90 else byte


cdef inline bint is_space(int byte) noexcept nogil:
    """Return whether a byte is white space, as in bytes.split(): a space, or one of 9 to 13."""
    return byte == 32 or 9 <= byte <= 13


cdef inline bint is_digit(int byte) noexcept nogil:
    return 48 <= byte <= 57


cdef inline bint is_letter(int byte) noexcept nogil:
    """Return whether a byte is an ASCII letter."""
    return 97 <= (byte | 32) <= 122 and byte >= 0


cdef inline int hex_digit(int byte) noexcept nogil:
    """Return the value of a hexadecimal digit; -1 for any other byte."""
    if is_digit(byte):
        return byte - 48
    return (byte | 32) - 87 if 97 <= (byte | 32) <= 102 else -1


cdef inline bint is_one_of(int byte, const char *letters) noexcept nogil:
    """Return whether `letters` contains `byte`; False for 0 and END."""
    return byte > 0 and memchr(letters, byte, strlen(letters)) is not NULL


cdef Text without_space(Text text) noexcept nogil:
    """Return a text without the white space at its start and end."""
    while text.size and is_space(text.at[0]):
        text.at += 1
        text.size -= 1
    while text.size and is_space(text.at[text.size - 1]):
        text.size -= 1
    return text


cdef Text stripped(Text text, const char *letters) noexcept nogil:
    """Return a text without the bytes at its start and end that are in `letters`."""
    cdef Text some = literal(letters)
    while text.size and has(some, text.at[0]):
        text.at += 1
        text.size -= 1
    while text.size and has(some, text.at[text.size - 1]):
        text.size -= 1
    return text


cdef bint next_of(Text text, const char *separators, Size *at, Text *found) noexcept nogil:
    """Set `found` to the next piece between separators, `at` to its end; return False if there is none."""
    cdef Size start = at[0], end
    cdef Text some = literal(separators)
    while start < text.size and has(some, text.at[start]):
        start += 1
    end = start
    while end < text.size and not has(some, text.at[end]):
        end += 1
    at[0], found[0] = end, piece(text, start, end)
    return found.size > 0


# The arena

cdef int add_block(Arena *arena, Size room) except -1 nogil:
    """Allocate a new block after the current one, and make it the current one."""
    cdef Block *block = <Block *>malloc(sizeof(Block) + room)
    if block is NULL:
        with gil:
            raise MemoryError
    block.room, block.used = room, 0
    if arena.now is NULL:
        block.next = NULL
        arena.first = block
    else:
        block.next = arena.now.next
        arena.now.next = block
    arena.now = block
    arena.total += room
    return 0


cdef void *allot(Arena *arena, Size size) except NULL nogil:
    """Return `size` bytes of memory, valid until the arena is cleared; their content is undefined."""
    cdef Block *block
    size = (size + 15) & ~<Size>15
    while arena.now is not NULL and arena.now.room - arena.now.used < size:
        if arena.now.next is NULL or arena.now.next.room < size:
            add_block(arena, max(size, max(arena.total, <Size>FIRST_BLOCK)))
        else:
            arena.now = arena.now.next
    if arena.now is NULL:
        add_block(arena, max(size, <Size>FIRST_BLOCK))
    block = arena.now
    block.used += size
    return <char *>block + sizeof(Block) + block.used - size


cdef void clear_arena(Arena *arena) noexcept nogil:
    """Let the next message use all memory of the arena again; if it is more than MAX_KEPT bytes, free it."""
    cdef Block *block = arena.first
    if arena.total > MAX_KEPT:
        free_arena(arena)
        return
    while block is not NULL:
        block.used = 0
        block = block.next
    arena.now = arena.first


cdef void free_arena(Arena *arena) noexcept nogil:
    cdef Block *block = arena.first
    cdef Block *next
    while block is not NULL:
        next = block.next
        free(block)
        block = next
    arena.first = arena.now = NULL
    arena.total = 0


cdef void *with_room(Arena *arena, void *items, Size used, Size *room, Size item_size) except NULL nogil:
    """Return `items` or, if one more item does not fit, a larger copy; set `room` to how many items fit."""
    cdef void *larger
    if used < room[0]:
        return items
    room[0] = max(2 * room[0], <Size>16)
    larger = allot(arena, room[0] * item_size)
    if used:
        memcpy(larger, items, used * item_size)
    return larger


cdef inline int add_text(Arena *arena, Texts *texts, Text text) except -1 nogil:
    """Append a text to a list of texts; an empty list is one whose bytes are all 0."""
    texts.items = <Text *>with_room(arena, texts.items, texts.count, &texts.room, sizeof(Text))
    texts.items[texts.count] = text
    texts.count += 1
    return 0


cdef class Memory:
    """Memory for the texts of one call from Python; it is freed with this object."""

    cdef Arena arena

    def __dealloc__(self):
        free_arena(&self.arena)


# Writers

cdef inline int start_writer(Writer *to, Arena *arena, Size room) except -1 nogil:
    """Begin to write a text; `room` bytes are allocated for it at first."""
    to.arena = arena
    to.room = max(room, <Size>16)
    to.size = 0
    to.at = <Byte *>allot(arena, to.room)
    return 0


cdef int make_room(Writer *to, Size size) except -1 nogil:
    """Enlarge the memory, if needed, so that `size` more bytes can be written."""
    cdef Byte *larger
    if to.room - to.size < size:
        to.room = max(2 * to.room, to.size + size)
        larger = <Byte *>allot(to.arena, to.room)
        memcpy(larger, to.at, to.size)
        to.at = larger
    return 0


cdef inline int put_byte(Writer *to, int byte) except -1 nogil:
    if to.size == to.room:
        make_room(to, 1)
    to.at[to.size] = byte
    to.size += 1
    return 0


cdef inline int put(Writer *to, Text text) except -1 nogil:
    """Append a text to the text that is being written."""
    if to.room - to.size < text.size:
        make_room(to, text.size)
    memcpy(to.at + to.size, text.at, text.size)
    to.size += text.size
    return 0


cdef inline int put_literal(Writer *to, const char *letters) except -1 nogil:
    return put(to, literal(letters))


cdef int put_number(Writer *to, int64_t number) except -1 nogil:
    """Append the decimal digits of a number, which must not be negative."""
    cdef Byte[20] digits
    cdef int size = 0
    while number > 0 or not size:
        digits[size] = 48 + number % 10
        number //= 10
        size += 1
    while size:
        size -= 1
        put_byte(to, digits[size])
    return 0


cdef inline Text written(Writer *to) noexcept nogil:
    """Return the text written so far; it stays valid if more is written."""
    cdef Text text
    text.at, text.size = to.at, to.size
    return text


cdef int lowered(Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to a copy of a text with its ASCII letters in lower case."""
    cdef Size at
    cdef Byte *copy = <Byte *>allot(arena, text.size)
    for at in range(text.size):
        copy[at] = lower(text.at[at])
    result.at, result.size = copy, text.size
    return 0


cdef int replaced(Arena *arena, Text text, Text sought, Text by, Text *result) except -1 nogil:
    """Set `result` to a text with each `sought` replaced by `by`; to the text itself if there is none."""
    cdef Writer to
    cdef Size copied = 0, at = find(text, sought, 0)
    result[0] = text
    if at < 0:
        return 0
    start_writer(&to, arena, text.size + (text.size >> 3 if by.size > sought.size else 0))
    while at >= 0:
        put(&to, piece(text, copied, at))
        put(&to, by)
        copied = at + sought.size
        at = find(text, sought, copied)
    put(&to, rest(text, copied))
    result[0] = written(&to)
    return 0


cdef int without_byte(Arena *arena, Text text, int byte, Text *result) except -1 nogil:
    """Set `result` to a text with each `byte` removed; to the text itself if there is none."""
    cdef Writer to
    cdef Size start = 0, at = find_byte(text, byte, 0)
    result[0] = text
    if at < 0:
        return 0
    start_writer(&to, arena, text.size)
    while at >= 0:
        put(&to, piece(text, start, at))
        start = at + 1
        at = find_byte(text, byte, start)
    put(&to, rest(text, start))
    result[0] = written(&to)
    return 0


cdef int joined(Arena *arena, Text text, Text other, Text *result) except -1 nogil:
    """Set `result` to a copy of `text`, followed by `other`."""
    cdef Byte *copy = <Byte *>allot(arena, text.size + other.size)
    memcpy(copy, text.at, text.size)
    memcpy(copy + text.size, other.at, other.size)
    result.at, result.size = copy, text.size + other.size
    return 0


# Python's bytes and str

cdef inline Text text_of(bytes data):
    """Return a bytes object as a text, valid as long as the object exists."""
    cdef Text text
    text.at, text.size = <const Byte *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
    return text


cdef inline bytes bytes_of(Text text):
    return PyBytes_FromStringAndSize(<const char *>text.at, text.size)


cdef inline str str_of(Text text):
    """Return a UTF-8 text as a str."""
    return PyUnicode_DecodeUTF8(<const char *>text.at, text.size, "replace")


cdef inline str latin_of(Text text):
    """Return a text as a str with one character per byte."""
    return PyUnicode_DecodeLatin1(<const char *>text.at, text.size, NULL)


cdef int text_of_str(Arena *arena, str string, Text *result) except -1:
    """Set `result` to a str in UTF-8, copied to the arena; half a surrogate pair becomes a question mark."""
    cdef bytes data = string.encode("utf-8", "replace")
    cdef Byte *copy = <Byte *>allot(arena, len(data))
    memcpy(copy, PyBytes_AS_STRING(data), len(data))
    result.at, result.size = copy, len(data)
    return 0
