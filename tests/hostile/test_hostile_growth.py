"""Four times the mail takes about four times as long, however it is made."""

import pytest
from fuzz.families import FAMILIES
from fuzz.growth import FREE, MOST, SIZES, STEP, WORK, seconds
from helpers.tiers import only_long


@only_long  # times are compared, which a busy machine may spoil; `make growth` has them, too
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, families in FAMILIES.items() for name in families]
)
def test_work_is_linear(kind, name):
    make = FAMILIES[kind][name]
    small, large = make(SIZES[kind]), make(STEP * SIZES[kind])
    work, tries = WORK[kind], 1
    took, allowed = seconds(work, large, 1), MOST * seconds(work, small, 2) + FREE
    while took > allowed and tries < 5:  # something else was in the way, perhaps
        tries += 1
        took = min(took, seconds(work, large, 1))
    assert took <= allowed
