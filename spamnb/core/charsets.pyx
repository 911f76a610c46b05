# Finds the codec for the name of a charset, and decodes bytes with it into UTF-8.
#
# Only the codecs in CODECS are ever used: a stranger names the charset, and Python's registry also has codecs that are
# no charsets (base64, zlib), take quadratic time (punycode, idna) or interpret escapes. ASCII, UTF-8 and charsets of
# single bytes are decoded here, others by Python's codecs, which need the GIL. All in linear time; a byte becomes three
# at most. The table of a charset is made when it is first used, and kept.

from encodings.aliases import aliases as PYTHON_ALIASES  # already loaded by the interpreter

cdef extern from *:
    """
    static inline void *published(void **place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
    static inline void publish(void **place, void *made) { __atomic_store_n(place, made, __ATOMIC_RELEASE); }
    """
    void *published(void **place) noexcept nogil
    void publish(void **place, void *made) noexcept nogil

cdef enum:
    MAX_CHARSET_NAME = 64  # bytes; the longest registered charset name has 45
    MAX_NAMES_IN = 60  # charsets named in a text that are looked up
    MAX_CODECS = 128

cdef enum:  # numbers of codecs, in the order of CODECS; only those that the code names
    GUESSED = 0  # in place of a codec: no charset is declared, or none that can be true
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

# As in browsers: senders name an old charset and mean the superset that their system really uses.
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


cdef enum:  # kinds of codecs
    IS_SINGLE_BYTE = 1
    IS_MULTI_BYTE = 2
    IS_STATEFUL = 4  # bytes below 0x80 are not simply ASCII
    IS_TWO_BYTES = 8  # or four


cdef struct Forms:  # the character for each byte of a charset
    uint32_t[256] forms  # up to three bytes of UTF-8, and their number in the highest byte
    bint has_ascii  # bytes below 0x80 are ASCII


cdef Byte[MAX_CODECS] CODEC_KINDS
cdef Byte[MAX_CODECS] CODEC_FAMILIES  # the first codec whose name has the same six letters: UTF-16, ISO-2022 …
cdef NameTable CHARSET_NAMES
cdef int[MAX_TABLE_NAMES] CHARSET_CODECS
cdef (Forms *)[MAX_CODECS] SINGLE_BYTE_FORMS  # NULL until they are needed


cdef int fill_codecs() except -1:
    cdef dict aliases, number_of = {name: number for number, name in enumerate(CODECS)}, families = {}
    cdef list names = []
    cdef int number
    cdef str alias, name
    for name, number in number_of.items():
        CODEC_KINDS[number] = kind_of(name)
        CODEC_FAMILIES[number] = families.setdefault(name[:6], number)
    number_of |= {name: number_of[superset] for name, superset in SUPERSETS.items()}
    # For a name that is in two of these, the first is used.
    for aliases in (MORE_ALIASES, PYTHON_ALIASES, {name: name for name in CODECS[1:]}):
        for alias, name in aliases.items():
            number = number_of.get(name, NOWHERE)
            if number != NOWHERE:
                CHARSET_CODECS[len(names)] = number
                names.append(alias.encode())
    return fill_names(&CHARSET_NAMES, names)


cdef int kind_of(str name) except -1:
    """Return the flags of the codec with this name, such as IS_MULTI_BYTE."""
    if name in MULTI_BYTE:
        return IS_MULTI_BYTE
    if name.startswith(("utf_16", "utf_32")):
        return IS_STATEFUL | IS_TWO_BYTES
    return IS_STATEFUL if name.startswith(("utf", "hz", "iso2022")) else IS_SINGLE_BYTE


fill_codecs()


cdef inline str codec_name(int codec):
    """Return Python's name of the codec with this number; "" for GUESSED."""
    return CODECS[codec] if codec else ""


cdef inline bint is_codec(int codec, int kinds) noexcept nogil:
    """Return whether a codec has at least one of the flags `kinds`, such as IS_TWO_BYTES."""
    return CODEC_KINDS[codec] & kinds != 0


cdef int codec_of(Text declared) noexcept nogil:
    """Return the number of the codec for the charset name `declared`; GUESSED if the name is unknown."""
    cdef Byte[MAX_CHARSET_NAME] letters
    cdef Size at, size = 0
    cdef int byte, number
    cdef Text name
    for at in range(min(declared.size, <Size>MAX_CHARSET_NAME)):
        byte = lower(byte_at(declared, at))
        if is_letter(byte) or is_digit(byte):
            letters[size] = byte
            size += 1
        elif size and letters[size - 1] != c"_":
            letters[size] = c"_"
            size += 1
    name.at, name.size = letters, size
    name = stripped(rest(name, 2 if starts_with(name, b"x_") else 0), b"_")
    number = number_of_name(&CHARSET_NAMES, name)
    return CHARSET_CODECS[number] if number >= 0 else GUESSED


cdef int names_in(Text data, int *names) noexcept nogil:
    """Write to `names` the codecs of all charsets that a text names (as in `charset=…`); return how many."""
    cdef Size at = find_byte(data, EQUALS, 0), next, start
    cdef int count = 0
    cdef Text name
    while at >= 0 and count < MAX_NAMES_IN:
        next = find_byte(data, EQUALS, at + 1)
        if (byte_at(data, at + 1) == c"?" or is_in_any_case(piece(data, at - 7, at), literal(b"charset"))
                or is_in_any_case(piece(data, at - 8, at), literal(b"encoding"))):
            start = 0
            name = piece(data, at + 1, min(at + MAX_CHARSET_NAME, or_end(data, next)))
            next_of(name, b"\"'?*<>();,/& \t\r\n", &start, &name)
            names[count] = codec_of(name)
            count += 1
        at = next
    return count


# UTF-8

cdef Size utf8_size(Text text, Size at) noexcept nogil:
    """Return the size of the UTF-8 character at `at`; 0 if it is cut off; -n if n bytes are invalid."""
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
    """Return the offset where the valid UTF-8 that starts at `at` ends: the text's size if all is valid."""
    cdef Size size = 1
    while size > 0:
        at = end_of_plain_utf8(text, at)
        size = utf8_size(text, at) if at < text.size else 0
        at += max(size, 0)
    return at


cdef bint is_utf8(Text text) noexcept nogil:
    return end_of_utf8(text, 0) == text.size


cdef bint is_cut_utf8(Text text, Size at) noexcept nogil:
    """Return whether a text ends at the offset `at`, or within the UTF-8 character that starts at `at`."""
    if at == text.size or utf8_size(text, at) == 0:
        return True
    return text.size - at == 2 and byte_at(text, at) == 0xED and 0xA0 <= byte_at(text, at + 1) <= 0xBF


cdef int mended_utf8(Arena *arena, Text data, Text *result) except -1 nogil:
    """Set `result` to `data`, with invalid UTF-8 replaced by U+FFFD as bytes.decode(errors="replace") does."""
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

cdef int decode_with_codec(Arena *arena, Text data, int codec, Text *result) except -1 nogil:
    """Decode `data` into `result` with a codec; bytes that stand for no character become U+FFFD."""
    cdef Forms *table
    cdef Byte *to
    result[0] = data
    if codec == UTF_8:
        return mended_utf8(arena, data, result)
    if not is_codec(codec, IS_SINGLE_BYTE):
        return decode_with_python(arena, data, codec, result)
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
    """Make and store the decoding table of a one-byte charset, unless another thread has done so."""
    cdef str characters = bytes(range(256)).decode(CODECS[codec], "replace")
    cdef Forms *made
    cdef bytes form
    cdef int byte
    if SINGLE_BYTE_FORMS[codec] is not NULL:  # another thread made it
        return 0
    made = <Forms *>zeros_of(sizeof(Forms))
    made.has_ascii = characters[:128] == bytes(range(128)).decode()
    for byte in range(256):
        form = characters[byte].encode()
        memcpy(&made.forms[byte], PyBytes_AS_STRING(form), min(len(form), 3))
        made.forms[byte] |= <uint32_t>len(form) << 24
    publish(<void **>&SINGLE_BYTE_FORMS[codec], made)
    return 0


cdef int decode_with_python(Arena *arena, Text data, int codec, Text *result) except -1 with gil:
    """Decode `data` into `result` with one of Python's codecs."""
    cdef str name = CODECS[codec], text
    cdef bytes coded = bytes_of(data)
    if codec == UTF_7:
        # Bytes above 0x7f are errors, at 380 ms a MiB. Lone surrogates, which nothing encodes, are replaced.
        coded = coded.translate(bytes(range(128)) + b"?" * 128)
        coded, name = coded.decode(name, "replace").encode("utf-16", "surrogatepass"), "utf-16"
    try:
        text = coded.decode(name, "replace")
    except RuntimeError:  # iso2022_jp_2 fails where ESC N calls for a set of letters that it lacks
        text = coded.replace(b"\x1bN", b"?").decode(name, "replace")
    return text_of_str(arena, text, result)


# For Python

cdef int declared_codec(str declared) except -1:
    cdef bytes name = declared.encode("utf-8", "replace")
    return codec_of(text_of(name))


def codec(str declared not None):
    """Return Python's name of the codec for the charset name `declared`; "" if the name is unknown."""
    return codec_name(declared_codec(declared))


def known_codecs():
    """Return Python's names of all codecs that are used to decode mail."""
    return CODECS[1:]
