# The parts of a message as they are found: fields, header blocks, leaves. All texts lie in the message or its arena.

cdef enum:  # transfer encodings
    AS_IT_IS = 0
    BASE64 = 1
    QUOTED = 2


cdef struct Field:
    Text name  # in lower case
    Text raw  # its value: unfolded, bytes as they came
    Text value  # as a person would see it, in UTF-8
    int rule  # for what is evidence in it: one of header_rules.pyx


cdef struct HeaderBlock:
    Field *fields
    Size count
    Size body  # where what follows begins
    Size[5] first  # fields of the names that are needed, NOWHERE if there is none
    bint is_raw  # has bytes above 0x7f, in whatever charset


cdef struct Context:  # the message around a text, which may name charsets; only so many are found in it
    Arena *arena
    Text data
    int finds_left
    int name_count  # of codecs that the message names; NOWHERE until they are sought
    int[64] names


cdef struct DecodedBody:  # a body as it was before it was encoded
    Text data
    int encoding  # found first: AS_IT_IS, BASE64, QUOTED
    int other_encoding  # found besides; NOWHERE if none
    int why  # it is not as declared
    Size high_bytes  # above 0x7f, if that is why


cdef struct Decoding:  # how the text of a leaf was read: if not as declared, why
    Text text  # in UTF-8
    int codec  # number of the charset's codec, as `charsets.pyx` has it
    int why_charset
    DecodedBody how


cdef struct Leaf:  # or the head of an embedded message, which has no text and size 0
    Text content_type  # in lower case; nothing if the message has no header block
    Text charset  # as declared, in lower case
    Text filename  # in UTF-8
    Text text  # in UTF-8
    Field *fields  # its own; in a message that is no multipart, the message's
    Size field_count
    Size size  # bytes of its body as it was sent
    int encoding  # as declared
    bint is_embedded
    bint has_text
    bint is_decoded  # `decoding` says how; else the text is ASCII, as declared
    Decoding decoding
    bint has_content  # an attachment that could be read; its text is `text`
    bint is_page  # an attachment of HTML
    Texts links  # in an attachment
    Texts names  # of the files in an archive


cdef struct Mail:  # all zeros before the first message
    Arena *arena
    Text data  # in canonical form
    bint has_headers
    HeaderBlock head
    Leaf *leaves
    Size leaf_count
    Context context
    int codec  # of the first text beyond ASCII; NOWHERE until there is one
    Field *free_fields  # behind those of the blocks that were read
    Size free_field_count
    Size attached_left  # bytes of attachments that may still be read
    void *attachments  # Python's object that reads them, once there is one that it can read
