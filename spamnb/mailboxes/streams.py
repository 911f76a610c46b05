"""Read a file in blocks, and decompress them if they are compressed."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

BLOCK = 256 << 10  # bytes read at once: an mbox is split at 306 MB/s, at 272 with 1 MiB
FIRST_BLOCK = 64 << 10  # bytes of a file's first read: most messages whole, without asking for a large buffer
COMPRESSED_BLOCK = 16 << 10  # bytes unpacked at once: after each compressed part, the rest is copied
MAX_MEMBERS, MIN_MEMBER = 10_000, 1000  # compressed parts of a file; more if parts are larger
MAX_DICTIONARY = 256 << 20  # memory that an xz file may ask for; `xz -9` asks for 65 MB
MAX_WINDOW = 27  # power of two: memory that a zstd file may ask for, 128 MB as `zstd -d` allows by default
STREAM = -1  # in place of a size: the file can be read only once, or only by this process
DENIED = "permission denied"  # as `reason_of` words it


class ByteStream:
    """Blocks of bytes. If reading fails, the blocks end and `why` has the reason; earlier blocks can be used.

    A file that was deleted since it was found has no blocks, and `why` stays empty.
    """

    __slots__ = ("blocks", "why")

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks = blocks
        self.why = ""

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self.blocks)
        except OSError as error:
            self.why = "" if isinstance(error, FileNotFoundError) else reason_of(error)
            raise StopIteration from None


def reason_of(error: OSError) -> str:
    """Return the reason for an error in words, without a path."""
    return error.strerror.lower() if error.strerror else str(error)


def blocks_of(read: Callable[[int], bytes | None]) -> Iterator[bytes]:
    size = FIRST_BLOCK
    while block := read(size):
        yield block
        size = BLOCK


def chain(head: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    yield from blocks


def gather(blocks: Iterator[bytes], size: int) -> bytes:
    """Read blocks until they have at least `size` bytes, or there are no more; return all bytes read."""
    taken = []
    while size > 0 and (block := next(blocks, b"")):
        taken.append(block)
        size -= len(block)
    return b"".join(taken)


def decompressor_for(head: bytes) -> Callable[[], Any] | None:
    """Return a function that makes decompressors for a file with this `head`; None if not compressed."""
    if head.startswith(b"\x1f\x8b\x08"):
        return _gzip
    if head.startswith(b"\xfd7zXZ\0"):
        return _xz
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return _bzip2
    # pzstd begins with a frame to be skipped, whose magic number has sixteen values.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
        return _zstd
    return None


# Each library is imported where it is needed: delivered mail is not compressed.


def _gzip() -> Any:
    import zlib

    return zlib.decompressobj(wbits=31)


def _xz() -> Any:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_DICTIONARY)


def _bzip2() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


def _zstd() -> Any:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        from spamnb.errors import needs_extra

        raise ImportError(str(needs_extra("zstd", "zstd"))) from None
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW})


def decompressed(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks of a file, decompressed if the file is compressed (even in several parts)."""
    head = gather(blocks, 10)  # bytes that `decompressor_for` looks at
    blocks = chain(head, blocks)
    new_decompressor = decompressor_for(head)
    if not new_decompressor:
        yield from blocks
        return
    size = COMPRESSED_BLOCK
    packed = (block[at : at + size] for block in blocks for at in range(0, len(block), size))
    rest = next(packed, b"")
    members = unpacked = 0
    while rest:
        members += 1
        if members > MAX_MEMBERS + unpacked // MIN_MEMBER:
            raise OSError("damaged compression: too many compressed parts that are nearly empty")
        try:
            decompressor = new_decompressor()
        except ImportError as error:  # a Python built without that library
            raise OSError(f"a library to decompress this file is missing: {error}") from error
        while not decompressor.eof:
            block = _decompress(decompressor, rest)
            rest = getattr(decompressor, "unconsumed_tail", b"")  # zlib returns what the others keep
            if block:
                unpacked += len(block)
                yield block
            elif not rest and not decompressor.eof:
                rest = next(packed, b"")
                if not rest:
                    raise OSError("damaged compression: the file ends too early")
        rest = decompressor.unused_data.lstrip(b"\0")
        while not rest and (more := next(packed, b"")):
            rest = more.lstrip(b"\0")  # padding, as tapes and xz leave it


def _decompress(decompressor: Any, data: bytes) -> bytes:
    try:
        return decompressor.decompress(data, BLOCK)  # type: ignore[no-any-return]
    except Exception as error:  # each library has its own
        raise OSError(f"damaged compression: {error}") from error
