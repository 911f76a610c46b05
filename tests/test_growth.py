"""The check for linear time, on work that is linear and work that is not."""

import pytest
from helpers.growth import in_linear_time


def test_only_quadratic_work_fails():
    text = "a" * 8192
    assert in_linear_time(lambda text: len([ord(letter) for letter in text]), text) == 8192
    with pytest.raises(AssertionError):
        in_linear_time(lambda text: [text.count("b") for _ in text], text)
