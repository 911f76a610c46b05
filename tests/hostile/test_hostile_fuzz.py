"""What holds for any bytes, searched by hypothesis from the seeds of the fuzzer (`make fuzz` searches on)."""

import random

import pytest
from fuzz.common import in_time
from fuzz.targets import TARGETS
from hypothesis import given
from hypothesis import strategies as st

MAX_SEED = 8192  # bytes of a seed here; a small model has 5,400


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """A few changes, as a fuzzer makes them."""
    data = bytearray(seed)
    for _ in range(chance.randint(0, 6)):
        at = chance.randint(0, len(data))
        size = chance.choice((1, 1, 2, 8, 64, 512))
        change = chance.randrange(4)
        if change == 0:
            data[at : at + size] = chance.randbytes(size)
        elif change == 1:
            del data[at : at + size]
        elif change == 2:
            data[at:at] = data[at : at + size] * chance.choice((1, 2, 30))
        else:
            data[at:] = data[at:][:size] + data[: len(data) - at]
    return bytes(data[: 2 * MAX_SEED])


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes(name):
    check = in_time(TARGETS[name].check)
    seeds = [seed[:MAX_SEED] for seed in TARGETS[name].seeds()]
    for seed in seeds:
        check(seed)

    @given(st.sampled_from(seeds), st.integers(0, 1 << 32))
    def search(seed, chance):
        check(mutated(seed, random.Random(chance)))

    search()
