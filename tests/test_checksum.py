"""The checksum of files: that of zlib, whatever the number of bytes."""

import random
import zlib

from spamnb.checksum import crc32


def test_it_is_that_of_zlib():
    for size in (0, 1, 3, 2400, 16384, 16385, 16388, 16389, 32768, 32772, 32773, 100_001):
        data = random.Random(size).randbytes(size)
        for before in (0, 1, 0xDEADBEEF, 0xFFFFFFFF):
            assert crc32(data, before) == zlib.crc32(data, before)
