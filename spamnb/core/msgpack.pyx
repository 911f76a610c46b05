# Numbers, checksums and msgpack for the files of this package; the msgpack library takes 6 ms to import.
#
# Files may be damaged or forged: every offset and every size is checked, and objects nest at most MAX_MSGPACK_DEPTH
# deep. Binary objects are views of the data, not copies.

from libc.math cimport INFINITY

cdef enum:
    MAX_MSGPACK_DEPTH = 16  # our own files nest four deep
    KEY_BYTES = 8  # of the fingerprint that a record begins with


# Numbers and checksums

cdef uint32_t[16][256] CRC
cdef bint CAN_FOLD = spamnb_can_fold()  # the processor has an instruction for CRC-32


cdef void fill_crc() noexcept:
    cdef uint32_t value, bit, byte, table
    for byte in range(256):
        value = byte
        for bit in range(8):
            value = value >> 1 ^ (0xEDB88320u if value & 1 else 0)
        CRC[0][byte] = value
    for table in range(1, 16):
        for byte in range(256):
            CRC[table][byte] = CRC[table - 1][byte] >> 8 ^ CRC[0][CRC[table - 1][byte] & 255]


fill_crc()


cdef inline uint32_t four_at(const Byte *at) noexcept nogil:
    """Return the number in four bytes, the lowest byte first."""
    return at[0] | <uint32_t>at[1] << 8 | <uint32_t>at[2] << 16 | <uint32_t>at[3] << 24


cdef inline uint64_t eight_at(const Byte *at) noexcept nogil:
    """Return the number in eight bytes, the lowest byte first."""
    return four_at(at) | <uint64_t>four_at(at + 4) << 32


cdef inline uint64_t number_at(const Byte *at, int width) noexcept nogil:
    """Return the number in `width` bytes (0 to 8), the lowest byte first."""
    cdef uint64_t number = 0
    while width:
        width -= 1
        number = number << 8 | at[width]
    return number


cdef uint32_t crc_of(const Byte *at, Size size, uint32_t crc) noexcept nogil:
    """Return the CRC-32 of bytes, read 16 at a time; `crc` is the CRC-32 of all bytes before them, or 0."""
    cdef uint32_t one, two, three, four
    cdef Byte[16] folded
    crc = ~crc
    if CAN_FOLD and size >= 64:
        spamnb_fold(at, size, crc, folded)
        crc = ~crc_of(folded, 16, 0xFFFFFFFFu)  # begun with 0
        at += size & ~<Size>15
        size &= 15
    while size >= 16:
        one, two, three, four = crc ^ four_at(at), four_at(at + 4), four_at(at + 8), four_at(at + 12)
        crc = (CRC[15][one & 255] ^ CRC[14][one >> 8 & 255] ^ CRC[13][one >> 16 & 255] ^ CRC[12][one >> 24]
               ^ CRC[11][two & 255] ^ CRC[10][two >> 8 & 255] ^ CRC[9][two >> 16 & 255] ^ CRC[8][two >> 24]
               ^ CRC[7][three & 255] ^ CRC[6][three >> 8 & 255] ^ CRC[5][three >> 16 & 255] ^ CRC[4][three >> 24]
               ^ CRC[3][four & 255] ^ CRC[2][four >> 8 & 255] ^ CRC[1][four >> 16 & 255] ^ CRC[0][four >> 24])
        at += 16
        size -= 16
    while size:
        crc = crc >> 8 ^ CRC[0][(crc ^ at[0]) & 255]
        at += 1
        size -= 1
    return ~crc


cdef Size record_of(const Byte *records, Size count, Size width, uint64_t key) noexcept nogil:
    """Return the index of the record with this key in a sorted array; for a missing key, -1 - (index to insert at).

    Each record has `width` bytes, the first 8 of which are its key; a record of less than 8 bytes is only a key.
    """
    cdef Size first = 0, last = count, middle
    cdef int key_bytes = min(width, <Size>KEY_BYTES)
    cdef uint64_t found
    while first < last:
        middle = (first + last) >> 1
        found = number_at(records + middle * width, key_bytes)
        if found == key:
            return middle
        if found < key:
            first = middle + 1
        else:
            last = middle
    return -1 - first


# Msgpack

class Damaged(ValueError):
    """The error raised for data that is not valid msgpack."""


cdef struct Unpacking:  # data that is read, and the offset of what comes next
    Text data
    Size at


cdef uint64_t read_number(Unpacking *source, int size) except? 0xFFFFFFFFFFFFFFFFu:
    """Read a number of `size` bytes, the highest byte first."""
    cdef uint64_t number = 0
    cdef Size end = skip_bytes(source, size) + size, at
    for at in range(end - size, end):
        number = number << 8 | <uint64_t>byte_at(source.data, at)
    return number


cdef Size skip_bytes(Unpacking *source, uint64_t size) except -1:
    """Skip `size` bytes, and return the offset of the first of them; raise Damaged if fewer bytes are left."""
    if size > <uint64_t>(source.data.size - source.at):
        raise Damaged("the msgpack data is cut short")
    source.at += size
    return source.at - size


cdef object read_str(Unpacking *source, uint64_t size):
    """Read a text of `size` bytes as a str."""
    cdef Size start = skip_bytes(source, size)
    cdef Text text = piece(source.data, start, start + size)
    return PyUnicode_DecodeUTF8(<const char *>text.at, text.size, NULL)


cdef object read_object(Unpacking *source, object view, int depth):
    """Read the next object; binary data is returned as a slice of `view`, a memoryview of all the data."""
    cdef int kind = byte_at(source.data, skip_bytes(source, 1)), unused
    cdef int64_t signed
    cdef uint64_t size, bits
    cdef Size start
    cdef double number = 0
    if depth > MAX_MSGPACK_DEPTH:
        raise Damaged("the msgpack data is nested too deeply")
    if kind <= 0x7F:
        return kind
    if kind <= 0x8F:
        return read_map(source, view, kind & 0x0F, depth)
    if kind <= 0x9F:
        return read_array(source, view, kind & 0x0F, depth)
    if kind <= 0xBF:
        return read_str(source, kind & 0x1F)
    if kind >= 0xE0:
        return kind - 256
    if kind == 0xC0:
        return None
    if 0xC2 <= kind <= 0xC3:
        return kind == 0xC3
    if 0xC4 <= kind <= 0xC6:
        size = read_number(source, 1 << (kind - 0xC4))
        start = skip_bytes(source, size)
        return view[start:source.at]
    if kind == 0xCB:
        bits = read_number(source, 8)
        memcpy(&number, &bits, 8)
        return number
    if 0xCC <= kind <= 0xCF:
        return read_number(source, 1 << (kind - 0xCC))
    if 0xD0 <= kind <= 0xD3:
        unused = 64 - (8 << (kind - 0xD0))
        signed = read_number(source, 1 << (kind - 0xD0)) << unused  # its sign becomes that of 64 bits
        return signed >> unused
    if 0xD9 <= kind <= 0xDB:
        return read_str(source, read_number(source, 1 << (kind - 0xD9)))
    if 0xDC <= kind <= 0xDD:
        return read_array(source, view, read_number(source, 2 << (kind - 0xDC)), depth)
    if 0xDE <= kind <= 0xDF:
        return read_map(source, view, read_number(source, 2 << (kind - 0xDE)), depth)
    raise Damaged(f"the msgpack data has an unknown type, {kind:#x}")


cdef list read_array(Unpacking *source, object view, uint64_t size, int depth):
    """Read `size` objects as a list."""
    cdef list items = []
    while size:
        items.append(read_object(source, view, depth + 1))
        size -= 1
    return items


cdef dict read_map(Unpacking *source, object view, uint64_t size, int depth):
    """Read `size` keys with their values as a dict."""
    cdef dict items = {}
    while size:
        key = read_object(source, view, depth + 1)
        items[key] = read_object(source, view, depth + 1)
        size -= 1
    return items


def unpack(bytes data not None, Size at=0):
    """Return the object packed at offset `at`, and the offset after the object; raise Damaged if invalid."""
    cdef Unpacking unpacking
    unpacking.data, unpacking.at = text_of(data), min(max(at, 0), len(data))
    try:
        return read_object(&unpacking, memoryview(data), 0), unpacking.at
    except (UnicodeDecodeError, TypeError) as error:  # invalid UTF-8, or a key of a dict that cannot be one
        raise Damaged("the msgpack data has an invalid text or key") from error


# Packing: each object in its shortest form

cdef bytes packed_front(int mark, uint64_t number, int width):
    """Return the type byte `mark`, followed by a number of `width` bytes, the highest byte first."""
    cdef Byte[9] front
    cdef int at
    front[0] = mark
    for at in range(width):
        front[1 + at] = number >> 8 * (width - 1 - at) & 255
    return front[:1 + width]


cdef bytes sized_front(uint64_t size, int fixed, uint64_t fixed_limit, int mark, int width):
    """Return the first bytes of an object: one byte, `fixed` + `size`, if `size` is below `fixed_limit`.

    A larger size follows the type byte `mark` in `width` bytes, or `mark` + 1 in twice as many, and so on.
    """
    if size < fixed_limit:
        return packed_front(fixed | <int>size, 0, 0)
    while width < 8 and size >> 8 * width:
        width *= 2
        mark += 1
    return packed_front(mark, size, width)


cdef bytes packed_integer(object value):
    cdef int64_t number
    cdef int width = 1, mark = 0xD0
    if value >= 0:
        return sized_front(value, 0, 128, 0xCC, 1)
    number = value
    if number >= -32:
        return packed_front(256 + number, 0, 0)
    while width < 8 and number < -(<int64_t>1 << (8 * width - 1)):
        width *= 2
        mark += 1
    return packed_front(mark, <uint64_t>number, width)


cdef int put_packed(list pieces, object value) except -1:
    """Append an object, packed as msgpack, to a list of bytes objects."""
    cdef double number
    cdef uint64_t bits = 0
    if value is None:
        pieces.append(b"\xc0")
    elif isinstance(value, bool):
        pieces.append(b"\xc3" if value else b"\xc2")
    elif isinstance(value, int):
        pieces.append(packed_integer(value))
    elif isinstance(value, float):
        number = value
        memcpy(&bits, &number, 8)
        pieces.append(packed_front(0xCB, bits, 8))
    elif isinstance(value, str):
        value = value.encode()
        pieces += (sized_front(len(value), 0xA0, 32, 0xD9, 1), value)
    elif isinstance(value, (bytes, memoryview)):
        pieces += (sized_front(len(value), 0, 0, 0xC4, 1), value)
    elif isinstance(value, (list, tuple)):
        pieces.append(sized_front(len(value), 0x90, 16, 0xDC, 2))
        for item in value:
            put_packed(pieces, item)
    elif isinstance(value, dict):
        pieces.append(sized_front(len(value), 0x80, 16, 0xDE, 2))
        for key, item in value.items():
            put_packed(pieces, key)
            put_packed(pieces, item)
    else:
        raise TypeError(f"cannot pack {type(value).__name__}")
    return 0


def pack(value):
    """Pack a value as msgpack: None, bool, int, float, str, bytes, or a list, tuple or dict of these."""
    cdef list pieces = []
    put_packed(pieces, value)
    return b"".join(pieces)


# For Python

def crc32(bytes data not None, uint32_t crc=0):
    """Return the CRC-32 of bytes; `crc` is the CRC-32 of all bytes before them, if there are any."""
    return crc_of(<const Byte *>data, len(data), crc)


def is_number(value, double least=-INFINITY, double most=INFINITY) -> bool:
    """Return whether a value is an int or float from `least` to `most`; False for NaN and bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def is_integer(value, least=0, most=(1 << 63) - 1) -> bool:
    """Return whether a value is an int from `least` to `most`; False for bool."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def index_of(bytes records not None, uint64_t key, Size width):
    """Return the index of the record with this key in sorted records; for a missing key, -1 - (index to insert at)."""
    return record_of(<const Byte *>records, len(records) // width, width, key)
