"""Our reader of msgpack agrees with the library."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.store.msgpack_codec import Damaged, unpack

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=40)
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=5), inner, max_size=20),
    max_leaves=30,
)


def plain(value):
    """The same value with slices of the map as bytes."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@given(values)
def test_reads_what_the_library_writes(value):
    packed = msgpack.packb(value)
    assert plain(unpack(packed)[0]) == value
    assert unpack(packed)[1] == len(packed)


@given(values, st.data())
def test_a_cut_file_is_an_error_and_nothing_else(value, data):
    packed = msgpack.packb(value)
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(Damaged):
        unpack(packed[:cut])


def test_depth_is_bounded():
    with pytest.raises(Damaged):
        unpack(b"\x91" * 10_000)
