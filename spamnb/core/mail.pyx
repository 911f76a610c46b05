# What is read of a message: header fields, header blocks, and leaf parts (MIME parts that have no parts of their own).
# All texts are pieces of the message or of its arena.

cdef enum:  # transfer encodings
    AS_IT_IS = 0
    BASE64 = 1
    QUOTED = 2


cdef struct Field:
    Text name  # in lower case
    Text raw  # the value, unfolded, with its bytes unchanged
    Text value  # the value as a person would see it, in UTF-8
    int rule  # how its value is cut into tokens: one of header_rules.pyx


cdef struct HeaderBlock:
    Field *fields
    Size count
    Size body  # where the body behind it starts; NOWHERE until its end is found
    Size[5] first  # number of the first field for each of NEEDED_NAMES, NOWHERE if there is none
    bint is_raw  # it has bytes above 0x7f, of an unknown charset


cdef struct Context:  # the message that a text is from: it may name the charset of the text
    Arena *arena
    Text data
    int finds_left  # texts whose charset may still be found by their bytes, which takes time
    int name_count  # how many charsets the message names; NOWHERE until they are looked for
    int[64] names  # their codecs


cdef struct DecodedBody:  # a body after its transfer encoding is undone
    Text data
    int encoding  # found first: AS_IT_IS, BASE64, QUOTED
    int other_encoding  # found in other lines; NOWHERE if there is none
    int why  # why the encoding is not the declared one; AS_DECLARED if it is
    Size high_bytes  # how many bytes are above 0x7f, if that is why


cdef struct Decoding:  # how the text of a leaf part was decoded, and why not as declared
    Text text  # in UTF-8
    int codec  # number of the charset's codec in charsets.pyx
    int why_charset
    DecodedBody how


cdef struct Leaf:  # a leaf part; or the header block of an embedded message, which has no text and size 0
    Text content_type  # in lower case; nothing if the message has no header block
    Text charset  # as declared, in lower case
    Text filename  # in UTF-8
    Text text  # in UTF-8
    Field *fields  # its header fields; those of the message if that is not a multipart
    Size field_count
    Size size  # bytes of its body as it was sent
    int encoding  # as declared
    bint is_embedded
    bint has_text
    bint is_decoded  # `decoding` is filled; else the text is ASCII, as declared
    Decoding decoding
    bint has_content  # an attachment that could be read; its text is `text`
    bint is_page  # … and is HTML
    Texts links  # found in an attachment
    Texts names  # of the files in an archive that is attached


cdef struct Mail:  # all zeros before the first message
    Arena *arena
    Text data  # in canonical form
    bint has_headers
    HeaderBlock head
    Leaf *leaves
    Size leaf_count
    Context context
    int codec  # of the first text that is not ASCII; NOWHERE until there is one
    Field *free_fields  # memory for fields of the next header block
    Size free_field_count
    Size attached_left  # bytes of attachments that may still be read
    void *attachments  # the Python object that reads PDF, ZIP and pictures; NULL until there is one to read
