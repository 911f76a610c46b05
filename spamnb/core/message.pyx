# Messages for Python: each property makes its Python objects when it is read for the first time.

cdef class MessageLeaf:
    """A part of a message that has no parts in it, or the header block of an embedded message.

    An embedded message gives a leaf of type message/rfc822 with its headers, no text and size 0. Then its
    leaf parts follow; if it is not a multipart, this is one leaf part with the same headers.
    """

    cdef readonly object charset, content, content_type, decoding, encoding, filename, headers, size, text


cdef class LeafContent:
    """What was found in an attachment: the text, whether the text is HTML, links, and names of files."""

    cdef readonly object is_html, links, names, text


cdef class LeafDecoding:
    """How a part was decoded: encoding and charset, and the reason if one is not as declared (else "")."""

    cdef readonly object charset, encoding, text, why_charset, why_encoding


cdef class Message:
    """A message that was read: its headers, and its leaf parts (those without parts in them)."""

    cdef Arena arena
    cdef Mail mail
    cdef bytes raw  # in which texts lie
    cdef object made_data, made_fields, made_headers, made_leaves

    def __cinit__(self):
        self.raw = b""

    def __dealloc__(self):
        end_mail(&self.mail)
        free_arena(&self.arena)

    cdef int read_raw(self, bytes raw, bint is_whole) except -1:
        """Read a message into this object, in place of the old message; unless `is_whole`, only its header block."""
        cdef Text text = text_of(raw)
        clear_arena(&self.arena)
        self.raw = raw
        self.made_data = self.made_fields = self.made_headers = self.made_leaves = None
        with nogil:
            if is_whole:
                read_mail(&self.mail, &self.arena, text)
            else:
                read_head_only(&self.mail, &self.arena, text)
        return 0

    @property
    def data(self) -> bytes:
        """The message with LF as the only line end, and no LF at its end, so that copies are equal."""
        if self.made_data is None:
            is_raw = self.mail.data.size == len(self.raw) and self.mail.data.at == text_of(self.raw).at
            self.made_data = self.raw if is_raw else bytes_of(self.mail.data)
        return self.made_data

    @property
    def body(self) -> int:
        """The offset in `data` where the body starts; below 0 if `read_head` did not find the head's end."""
        return self.mail.head.body

    @property
    def has_headers(self) -> bool:  # whether the message begins with a header block
        return self.mail.has_headers

    @property
    def fields(self) -> list[tuple[str, str]] | None:
        """Headers as (name in lower case, raw value with a character per byte); None if there are none."""
        cdef Field *field
        if self.made_fields is None and self.mail.has_headers:
            self.made_fields = []
            for n in range(self.mail.head.count):
                field = &self.mail.head.fields[n]
                self.made_fields.append((latin_of(field.name), latin_of(field.raw)))
        return self.made_fields

    @property
    def headers(self) -> list[tuple[str, str]]:
        """A list of the headers, in message order: (name in lower case, value as a person would see it)."""
        if self.made_headers is None:
            self.made_headers = headers_of(self.mail.head.fields, self.mail.head.count)
        return self.made_headers

    @property
    def leaves(self) -> list[MessageLeaf]:
        """The leaf parts (without parts in them), in message order; [] for a multipart without parts."""
        if self.made_leaves is None:
            self.made_leaves = [leaf_of(&self.mail.leaves[n]) for n in range(self.mail.leaf_count)]
        return self.made_leaves

    @property
    def allowance(self) -> object | None:
        """What is left of the limits on reading attachments (an `Allowance`); None if no attachment was read."""
        return (<object>self.mail.attachments).allowance if self.mail.attachments is not NULL else None

    def get(self, str name) -> str | None:
        """Return the value of the first header with this name, given in lower case; None if there is none."""
        cdef bytes sought = name.encode()
        cdef Field *field = first_field(self.mail.head.fields, self.mail.head.count, sought)
        return str_of(field.value) if field is not NULL else None


cdef list headers_of(Field *fields, Size count):
    return [(latin_of(fields[n].name), str_of(fields[n].value)) for n in range(count)]


cdef object leaf_of(Leaf *found):
    """Return a leaf part as a Python object."""
    cdef MessageLeaf leaf = MessageLeaf()
    leaf.content_type = str_of(found.content_type)
    leaf.headers = headers_of(found.fields, found.field_count)
    leaf.text = str_of(found.text) if found.has_text else None
    leaf.size = found.size
    leaf.charset = str_of(found.charset)
    leaf.filename = str_of(found.filename)
    leaf.encoding = ENCODING_NAMES[found.encoding]
    leaf.content = content_of(found) if found.has_content else None
    leaf.decoding = decoding_of(&found.decoding) if found.is_decoded else None
    return leaf


cdef object content_of(Leaf *found):
    cdef LeafContent content = LeafContent()
    content.text = str_of(found.text) if found.has_text else None
    content.is_html = found.is_page
    content.links = [str_of(found.links.items[n]) for n in range(found.links.count)]
    content.names = [str_of(found.names.items[n]) for n in range(found.names.count)]
    return content


cdef object decoding_of(Decoding *found):
    cdef LeafDecoding decoding = LeafDecoding()
    decoding.text = str_of(found.text)
    decoding.encoding, decoding.why_encoding = encoding_and_reason(&found.how)
    decoding.charset, decoding.why_charset = codec_name(found.codec), WHY_CHARSET[found.why_charset]
    return decoding


def read(bytes raw not None, Message reuse=None) -> Message:
    """Read a message, and return it as a `Message`. `reuse`: an old `Message` to fill and return again."""
    cdef Message message = reuse if reuse is not None else Message()
    message.read_raw(raw, True)
    return message


def read_head(bytes raw not None) -> Message:
    """Read only the header block of a message, and return it as a `Message`."""
    cdef Message message = Message()
    message.read_raw(raw, False)
    return message


def hash_of_message(Message message not None) -> int:
    """Return the hash of a message (64 bits), by which copies of it are recognised."""
    cdef uint64_t found = 0
    hash_mail(&message.mail, &found)
    return found
