# Charsets by name: which codec stands for each, and text decoded by it into UTF-8.
#
# Only the codecs named here are ever looked up: a charset comes from a stranger, and Python's registry also holds
# codecs that are not charsets (base64, zlib), take quadratic time (punycode, idna) or interpret escapes.
# ASCII, UTF-8 and charsets of single bytes are decoded here, others by Python's codecs, which need the GIL. All in
# linear time; a byte becomes three at most. A charset's table is made when it is first used, and stays.

from encodings.aliases import aliases as PYTHON_ALIASES  # already loaded by the interpreter
from cpython.unicode cimport PyUnicode_AsUTF8AndSize

cdef extern from *:
    """
    static inline void *published(void **place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
    static inline void publish(void **place, void *made) { __atomic_store_n(place, made, __ATOMIC_RELEASE); }
    """
    void *published(void **place) noexcept nogil
    void publish(void **place, void *made) noexcept nogil

cdef enum:
    MAX_CHARSET_NAME = 64  # bytes; the longest registered charset name has 45
    MAX_NAMES_IN = 20  # charsets that are looked at in a text, for each way to name them
    MAX_CODECS = 128
    NAME_PLACES = 1024  # a power of two; there are about 430 names

cdef enum:  # numbers of codecs, in the order of CODECS; the code mentions no others
    GUESSED = 0  # nothing believable is declared
    ASCII
    UTF_8
    CP1252
    UTF_7
    UTF_16
    UTF_16_BE
    UTF_16_LE
    UTF_32
    ISO2022_KR
    ISO2022_JP_2
    ISO2022_JP_EXT
    BIG5HKSCS
    EUC_JP
    CP932

cdef tuple CODECS = tuple("""
    - ascii utf_8 cp1252 utf_7 utf_16 utf_16_be utf_16_le utf_32 iso2022_kr iso2022_jp_2 iso2022_jp_ext
    big5hkscs euc_jp cp932
    latin_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10
    iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620
    cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866
    cp869 cp874 cp1006 cp1125 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek mac_iceland mac_latin2 mac_roman mac_romanian
    mac_turkish
    big5 cp949 cp950 euc_jis_2004 euc_jisx0213 euc_kr gb2312 gbk gb18030 johab shift_jis shift_jis_2004 shift_jisx0213
    utf_8_sig utf_32_be utf_32_le hz iso2022_jp iso2022_jp_1 iso2022_jp_2004 iso2022_jp_3
    """.split())
cdef frozenset MULTI_BYTE = frozenset("""
    utf_8 big5 big5hkscs cp932 cp949 cp950 euc_jp euc_jis_2004 euc_jisx0213 euc_kr gb2312 gbk gb18030 johab
    shift_jis shift_jis_2004 shift_jisx0213
    """.split())

# As browsers do: senders name the old charset and mean the superset that their system really uses.
cdef dict SUPERSETS = {
    "ascii": "-",  # says nothing about bytes above 0x7f: they are guessed
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Names seen in mail that Python does not know.
cdef dict MORE_ALIASES = {
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "iso_8859_6_i": "iso8859_6",
    "iso_8859_6_e": "iso8859_6",
    "unicode_1_1_utf_7": "utf_7",
    "unicode_1_1_utf_8": "utf_8",
    "gb_2312_80": "gb2312",
    "chinesebig5": "big5",
    "sjis": "shift_jis",
    "windows_31j": "cp932",
    "windows_874": "cp874",
    "mac": "mac_roman",
}


cdef enum:  # what a codec is
    IS_SINGLE_BYTE = 1
    IS_MULTI_BYTE = 2
    IS_STATEFUL = 4  # bytes below 0x80 are not simply ASCII
    IS_TWO_BYTES = 8  # or four


cdef struct KnownName:  # of a charset
    Text name
    int codec


cdef struct Forms:  # what each byte of a charset stands for
    uint32_t[256] forms  # in UTF-8: up to three bytes, and above these their number
    bint has_ascii  # as it is


cdef Byte[MAX_CODECS] CODEC_KINDS
cdef Text[MAX_CODECS] CODEC_NAMES
cdef KnownName[NAME_PLACES] KNOWN_NAMES  # by hash_of_name
cdef Byte[256] IS_IN_NAME  # a letter, digit or mark of a charset's name
cdef (Forms *)[MAX_CODECS] SINGLE_BYTE_FORMS  # NULL until they are needed
cdef dict known_charsets = {}  # codecs by name; keeps the letters that are in the tables


cdef int fill_codecs() except -1:
    cdef dict number_of = {name: number for number, name in enumerate(CODECS)}
    cdef int number
    cdef str name, alias
    known_charsets.update({name: name for name in CODECS[1:]})
    known_charsets.update(PYTHON_ALIASES)
    known_charsets.update(MORE_ALIASES)
    for number in range(1, len(CODECS)):
        CODEC_NAMES[number] = letters_of(CODECS[number])
        CODEC_KINDS[number] = kind_of(CODECS[number])
    CODEC_NAMES[GUESSED] = nothing()
    for alias, name in known_charsets.items():
        if name in number_of:
            add_known_name(letters_of(alias), number_of[SUPERSETS.get(name, name)])
    for number in range(256):
        IS_IN_NAME[number] = Py_UNICODE_ISALNUM(number) or is_one_of(number, b"-_.:")
    return 0


cdef Text letters_of(str name):
    """Return the UTF-8 of a string, which has to be kept as long as the text."""
    cdef Text text
    text.at = <const Byte *>PyUnicode_AsUTF8AndSize(name, &text.size)
    return text


cdef int kind_of(str name) except -1:
    if name in MULTI_BYTE:
        return IS_MULTI_BYTE
    if name.startswith(("utf_16", "utf_32")):
        return IS_STATEFUL | IS_TWO_BYTES
    return IS_STATEFUL if name.startswith(("utf", "hz", "iso2022")) else IS_SINGLE_BYTE


cdef int add_known_name(Text name, int codec) except -1:
    cdef Size place = hash_of_name(name)
    while KNOWN_NAMES[place].name.size:
        place = (place + 1) & (NAME_PLACES - 1)
    KNOWN_NAMES[place].name, KNOWN_NAMES[place].codec = name, codec
    return 0


cdef Size hash_of_name(Text name) noexcept nogil:
    cdef uint32_t value = 2166136261u
    cdef Size at
    for at in range(name.size):
        value = (value ^ <uint32_t>byte_at(name, at)) * 16777619u
    return (value ^ value >> 16) & (NAME_PLACES - 1)


fill_codecs()


cdef inline Text codec_name(int codec) noexcept nogil:
    """Return Python's name of a codec."""
    return CODEC_NAMES[codec]


cdef inline bint is_codec(int codec, int kinds) noexcept nogil:
    """Tell whether a codec is of one of some kinds."""
    return CODEC_KINDS[codec] & kinds != 0


cdef int codec_of(Text declared) noexcept nogil:
    """Return the codec for a declared charset, or GUESSED."""
    cdef Byte[MAX_CHARSET_NAME] letters
    cdef Size at, size = 0, place
    cdef bint is_gap = False
    cdef int byte
    cdef Text name
    if declared.size > MAX_CHARSET_NAME:
        return GUESSED
    for at in range(declared.size):
        byte = lower(byte_at(declared, at))
        if byte > 127:
            return GUESSED
        if not is_letter(byte) and not is_digit(byte):
            is_gap = size > 0
            continue
        if is_gap and size < MAX_CHARSET_NAME:
            letters[size] = 95
            size += 1
        if size < MAX_CHARSET_NAME:
            letters[size] = byte
            size += 1
        is_gap = False
    name.at, name.size = letters, size
    if starts_with(name, b"x_"):
        name = rest(name, 2)
    place = hash_of_name(name)
    while KNOWN_NAMES[place].name.size:
        if equal(KNOWN_NAMES[place].name, name):
            return KNOWN_NAMES[place].codec
        place = (place + 1) & (NAME_PLACES - 1)
    return GUESSED


cdef int names_in(Text data, int *names) noexcept nogil:
    """Find the codecs of the charsets that bytes name: charset=…, encoding="…" and =?…?; at most 60."""
    cdef int count = add_names(data, literal(b"charset="), names)
    count += add_names(data, literal(b"encoding="), names + count)
    return count + add_names(data, literal(b"=?"), names + count)


cdef int add_names(Text data, Text mark, int *names) noexcept nogil:
    cdef Size at = next_mark(data, mark, 0), next, start, end
    cdef int count
    for count in range(MAX_NAMES_IN):
        if at < 0:
            return count
        start = at + mark.size
        at = next_mark(data, mark, start) if count + 1 < MAX_NAMES_IN else NOWHERE
        next = min(start + MAX_CHARSET_NAME, at if at >= 0 else data.size)
        while start < next and not IS_IN_NAME[<Byte>byte_at(data, start)]:
            start += 1
        end = start
        while end < next and end < data.size and IS_IN_NAME[<Byte>byte_at(data, end)]:
            end += 1
        names[count] = codec_of(piece(data, start, end))
    return MAX_NAMES_IN


cdef Size next_mark(Text data, Text mark, Size at) noexcept nogil:
    """Return where a mark with "=" in it is next, in letters of any case."""
    cdef Size before = find_byte(mark, 61, 0), k, equals = find_byte(data, 61, at + before)
    while equals >= 0:
        k = 0
        while k < mark.size and lower(byte_at(data, equals - before + k)) == byte_at(mark, k):
            k += 1
        if k == mark.size:
            return equals - before
        equals = find_byte(data, 61, equals + 1)
    return NOWHERE


# UTF-8

cdef Size utf8_size(Text text, Size at) noexcept nogil:
    """Return the size of the character at an offset; if it is wrong, minus the bytes to be replaced; 0 if it is cut."""
    cdef int first = byte_at(text, at), byte, least = 0x80, most = 0xBF
    cdef Size k, size
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return -1
    size = char_size(first)
    if first == 0xE0:
        least = 0xA0
    elif first == 0xED:
        most = 0x9F
    elif first == 0xF0:
        least = 0x90
    elif first == 0xF4:
        most = 0x8F
    for k in range(1, size):
        byte = byte_at(text, at + k)
        if byte == END:
            return 0
        if byte < least or byte > most:
            return -k
        least, most = 0x80, 0xBF
    return size


cdef Size end_of_utf8(Text text, Size at) noexcept nogil:
    """Return up to where bytes are UTF-8, from an offset on."""
    cdef Size size = 1
    while size > 0:
        at = end_of_plain_utf8(text, at)
        size = utf8_size(text, at) if at < text.size else 0
        at += max(size, 0)
    return at


cdef bint is_utf8(Text text) noexcept nogil:
    return end_of_utf8(text, 0) == text.size


cdef bint is_cut_utf8(Text text, Size at) noexcept nogil:
    """Tell whether a text ends within the character at an offset, or there: codecs.utf_8_decode waits for more."""
    if at == text.size or utf8_size(text, at) == 0:
        return True
    return text.size - at == 2 and byte_at(text, at) == 0xED and 0xA0 <= byte_at(text, at + 1) <= 0xBF


cdef int mended_utf8(Arena *arena, Text data, Text *result) except -1 nogil:
    """Replace what is not UTF-8 by U+FFFD, as bytes.decode() does."""
    cdef Size at = end_of_utf8(data, 0), start = 0, wrong
    cdef Writer to
    result[0] = data
    if at == data.size:
        return 0
    start_writer(&to, arena, data.size + 16)
    while True:
        put(&to, piece(data, start, at))
        if at == data.size:
            break
        put_char(&to, WRONG)
        wrong = utf8_size(data, at)
        start = at - wrong if wrong else data.size
        at = end_of_utf8(data, start)
    result[0] = written(&to)
    return 0


# Decoding

cdef int by_codec(Arena *arena, Text data, int codec, Text *result) except -1 nogil:
    """Decode bytes by a codec; what it has no characters for is replaced by U+FFFD."""
    cdef Forms *table
    cdef Byte *to
    result[0] = data
    if codec == UTF_8:
        return mended_utf8(arena, data, result)
    if not is_codec(codec, IS_SINGLE_BYTE):
        return by_python(arena, data, codec, result)
    if codec == ASCII and is_ascii(data):
        return 0
    table = <Forms *>published(<void **>&SINGLE_BYTE_FORMS[codec])
    if table is NULL:
        make_forms(codec)
        table = SINGLE_BYTE_FORMS[codec]
    if table.has_ascii and is_ascii(data):
        return 0
    to = <Byte *>allot(arena, put_forms(data, table, NULL) + 4)
    result.at, result.size = to, put_forms(data, table, to)
    return 0


cdef int make_forms(int codec) except -1 with gil:
    """Make the table of a charset of single bytes."""
    cdef str characters = bytes(range(256)).decode(CODECS[codec], "replace")
    cdef Forms *made
    cdef bytes form
    cdef int byte
    if SINGLE_BYTE_FORMS[codec] is not NULL:  # by another thread
        return 0
    made = <Forms *>calloc(1, sizeof(Forms))
    if made is NULL:
        raise MemoryError
    made.has_ascii = characters[:128] == bytes(range(128)).decode()
    for byte in range(256):
        form = characters[byte].encode()
        memcpy(&made.forms[byte], PyBytes_AS_STRING(form), min(len(form), 3))
        made.forms[byte] |= <uint32_t>len(form) << 24
    publish(<void **>&SINGLE_BYTE_FORMS[codec], made)
    return 0


cdef int by_python(Arena *arena, Text data, int codec, Text *result) except -1 with gil:
    return text_of_str(arena, decoded_by_python(bytes_of(data), codec), result)


cdef str decoded_by_python(bytes data, int codec):
    cdef str name = CODECS[codec]
    if codec == UTF_7:
        # Bytes above 0x7f are errors, at 380 ms a MiB. Lone surrogates, which nothing encodes, are replaced.
        data = data.translate(bytes(range(128)) + b"?" * 128)
        return data.decode(name, "replace").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    try:
        return data.decode(name, "replace")
    except RuntimeError:  # iso2022_jp_2 fails where ESC N calls for a set of letters that it lacks
        return data.replace(b"\x1bN", b"?").decode(name, "replace")


# For Python

cdef int declared_codec(str declared) except -1:
    cdef bytes name = declared.encode("utf-8", "replace")
    return codec_of(text_of(name))


def codec(str declared not None):
    """Return Python's name of the codec for a declared charset; "" if it has to be guessed."""
    return latin_of(codec_name(declared_codec(declared)))


def known_codecs():
    """Return the names of all codecs."""
    return CODECS[1:]
