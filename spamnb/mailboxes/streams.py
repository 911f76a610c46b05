"""Bytes of a file in blocks, decompressed where they are compressed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    Piece = TypeVar("Piece")

BLOCK = 256 << 10  # bytes read at once: an mbox is split at 306 MB/s, at 272 with 1 MiB
FIRST = 64 << 10  # bytes of a file's first read: most messages whole, without asking for a large buffer
PACKED = 16 << 10  # compressed bytes read at once: what follows the end of a member is copied every time
MAX_DICTIONARY = 256 << 20  # memory that an xz file may ask for; `xz -9` asks for 65 MB
MAX_WINDOW = 27  # power of two: memory that a zstd file may ask for, 128 MB as `zstd -d` allows by default


DENIED = "permission denied"  # as `why` words it


class Source:
    """Blocks of bytes; an error ends them and leaves its reason in `why`, so what came before is kept.

    A file that is gone since it was found has no blocks, and no reason to name.
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
            self.why = "" if isinstance(error, FileNotFoundError) else why(error)
            raise StopIteration from None


def untorn(pieces: Iterator[Piece], source: Source) -> Iterator[Piece]:
    """What a source was split into, as it is read; the last is left out if an error ended it."""
    for piece in pieces:
        if source.why:
            *whole, _ = piece, *pieces
            yield from whole
        else:
            yield piece


def why(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else str(error)


def blocks_of(read: Callable[[int], bytes | None]) -> Iterator[bytes]:
    size = FIRST
    while block := read(size):
        yield block
        size = BLOCK


def chain(head: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    yield from blocks


def gather(blocks: Iterator[bytes], size: int) -> bytes:
    """At least `size` bytes, fewer only at the end."""
    parts = []
    while size > 0 and (block := next(blocks, b"")):
        parts.append(block)
        size -= len(block)
    return b"".join(parts)


def unpacker_for(head: bytes) -> Callable[[], Any] | None:
    """What makes decompressors for a file that begins so."""
    if head.startswith(b"\x1f\x8b\x08"):
        return _gzip
    if head.startswith(b"\xfd7zXZ\0"):
        return _xz
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return _bzip2
    # pzstd begins with a frame that is to be skipped; its magic number has sixteen values.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
        return _zstd
    return None


# Imported where they are called: mail that a delivery brings is not compressed.


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
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise ImportError("zstd needs an extra: pip install 'spamnb[zstd]'") from None
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW})


def unpacked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks themselves, or what is compressed in them, of however many members."""
    head = gather(blocks, 10)
    blocks = chain(head, blocks)
    new = unpacker_for(head)
    if not new:
        yield from blocks
        return
    packed = (block[at : at + PACKED] for block in blocks for at in range(0, len(block), PACKED))
    rest = next(packed, b"")
    while rest:
        try:
            unpacker = new()
        except ImportError as error:  # a Python built without that library
            raise OSError(f"cannot be decompressed here: {error}") from error
        while not unpacker.eof:
            block = _unpack(unpacker, rest)
            rest = getattr(unpacker, "unconsumed_tail", b"")  # zlib hands back what the others keep
            if block:
                yield block
            elif not rest and not unpacker.eof:
                rest = next(packed, b"")
                if not rest:
                    raise OSError("damaged compression: it ends too early")
        rest = unpacker.unused_data.lstrip(b"\0")
        while not rest and (more := next(packed, b"")):
            rest = more.lstrip(b"\0")  # padding, as tapes and xz leave it


def _unpack(unpacker: Any, data: bytes) -> bytes:
    try:
        return unpacker.decompress(data, BLOCK)  # type: ignore[no-any-return]
    except Exception as error:  # each library has its own
        raise OSError(f"damaged compression: {error}") from error
