# Replaces character references such as `&eacute;`, `&#233;` and `&#xE9;` by their characters.
#
# The table has the names that occur in mail; any other reference is left unchanged.

cdef enum:
    MAX_REFERENCE = 31  # letters of a name
    BEYOND = 0x110000  # above the numbers of all characters

LATIN_1_NAMES = (
    b"nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 "
    b"sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc "
    b"Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve "
    b"Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute "
    b"acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde "
    b"ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
).split()
# Names that HTML accepts without ";" come first.
BARE_NAMES = LATIN_1_NAMES + b"COPY REG amp lt gt quot AMP LT GT QUOT".split()
OTHER_NAMES = (
    b"ensp emsp thinsp apos OElig oelig Scaron scaron ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo bull hellip "
    b"prime lsaquo rsaquo euro trade larr rarr minus infin le ge hearts equiv zwnj zwj lrm rlm"
).split()
REFERENCES = BARE_NAMES + OTHER_NAMES
LETTERS = "".join(map(chr, range(0xA0, 0x100))) + (
    "\xa9\xae&<>\"&<>\"   'ŒœŠš–—‘’‚“”„•…′‹›€™←→−∞≤≥♥≡\u200c\u200d\u200e\u200f"
)
WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"  # its characters 128 to 159

cdef NameTable REFERENCE_NAMES
cdef Char[MAX_TABLE_NAMES] REFERENCE_LETTERS
cdef int BARE_COUNT = len(BARE_NAMES)
cdef Char[32] WINDOWS_LETTERS


cdef int fill_references() except -1:
    cdef Size number
    if len(LETTERS) != len(REFERENCES):
        raise ValueError("LETTERS and REFERENCES must have the same length")
    fill_names(&REFERENCE_NAMES, REFERENCES)
    for number in range(len(LETTERS)):
        REFERENCE_LETTERS[number] = ord(LETTERS[number])
    for number in range(32):
        WINDOWS_LETTERS[number] = ord(WINDOWS_1252[number])
    return 0


fill_references()


cdef int put_unescaped(Writer *to, Text text, bint in_attribute) except -1 nogil:
    """Append a text to `to`, with each character reference (such as &amp;) replaced by its character.

    If `in_attribute`, a name is not a reference if "=" follows in place of ";", as in `?a=1&copy=2`.
    """
    cdef Size done = 0, at = find_byte(text, c"&", 0), next, size
    cdef Char letter
    while at >= 0:
        next = find_byte(text, c"&", at + 1)
        letter = char_of_reference(piece(text, at, next if next >= 0 else text.size), in_attribute, &size)
        if size:
            put(to, piece(text, done, at))
            put_char(to, letter)
            done = at + size
        at = next
    return put(to, rest(text, done))


cdef Char char_of_reference(Text text, bint in_attribute, Size *size) noexcept nogil:
    """Return the character for the reference at the start of a text (0: none); set `size` to its length."""
    cdef int first = byte_at(text, 1)
    size[0] = 0
    if first == c"#":
        return char_of_number(text, size)
    if is_letter(first):
        return char_of_name(text, in_attribute, size)
    return 0


cdef Char char_of_number(Text text, Size *size) noexcept nogil:
    cdef int base = 10, digit
    cdef Char code = 0
    cdef Size at = 2, first
    if byte_at(text, 2) | 32 == c"x":
        at, base = 3, 16
    first = at
    while True:
        digit = hex_digit(lower(byte_at(text, at)))
        if digit < 0 or digit >= base:
            break
        code = min(code * base + digit, <Char>BEYOND)
        at += 1
    if at == first:
        return 0
    size[0] = at + 1 if byte_at(text, at) == c";" else at
    if 0x80 <= code < 0xA0:  # authors mean what windows-1252 has there
        return WINDOWS_LETTERS[code - 0x80]
    return WRONG if code == 0 or code == BEYOND or 0xD800 <= code < 0xE000 else code


cdef Char char_of_name(Text text, bint in_attribute, Size *size) noexcept nogil:
    """Return the character for a reference such as &amp; (0: unknown); set `size` to its length."""
    cdef Size end = 1
    cdef int number, byte = byte_at(text, 1)
    while end <= MAX_REFERENCE and (is_letter(byte) or is_digit(byte)):
        end += 1
        byte = byte_at(text, end)
    number = number_of_name(&REFERENCE_NAMES, piece(text, 1, end))
    if number < 0 or (byte != c";" and (number >= BARE_COUNT or (in_attribute and byte == c"="))):
        return 0
    size[0] = end + 1 if byte == c";" else end
    return REFERENCE_LETTERS[number]


cdef int unescaped(Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to `text`, the value of an attribute, with character references such as &amp; replaced."""
    cdef Writer to
    result[0] = text
    if has(text, c"&"):
        start_writer(&to, arena, text.size)
        put_unescaped(&to, text, True)
        result[0] = written(&to)
    return 0
