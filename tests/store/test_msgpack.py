"""Packing: as the library of that name does it."""

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import pack, unpack

EDGES = [0, 31, 32, 127, 128, 255, 256, 65_535, 65_536]
numbers = st.integers(-(1 << 63), (1 << 64) - 1) | st.sampled_from([1 << 32, (1 << 32) - 1, *EDGES])
numbers |= st.sampled_from([-32, -33, -128, -129, -32_768, -32_769, -(1 << 31), -(1 << 31) - 1])
plain = st.none() | st.booleans() | numbers | st.floats(allow_nan=False) | st.text() | st.binary()
objects = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(objects)
def test_any_object_is_packed_as_by_the_library_and_read_again(value):
    packed = pack(value)
    assert packed == msgpack.packb(value)
    assert unpack(packed) == (value, len(packed))


def test_every_size_has_its_shortest_form():
    for size in EDGES:
        for value in ("x" * size, b"x" * size, [0] * size, (0,) * size, dict.fromkeys(range(size), 0)):
            assert pack(value) == msgpack.packb(value), (type(value), size)
