"""Golden messages: all features of each, byte for byte."""

import pytest
from golden.regenerate import CORPUS, FOLDER, corpus_lines, described

MESSAGES = sorted(FOLDER.glob("*.eml"))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_golden(path):
    expected = path.with_suffix(".tokens").read_bytes()
    assert described(path.read_bytes()).encode() == expected, (
        f"{path.stem}: other features than before. If that is meant, raise VERSION in "
        "spamnb/store/model_file.py (models must be trained again), run `make golden` and review the diff."
    )


def test_each_has_its_message():
    assert {path.stem for path in MESSAGES} == {path.stem for path in FOLDER.glob("*.tokens")}
    assert len(MESSAGES) >= 12


def test_messages_of_the_corpus():
    assert corpus_lines() == CORPUS.read_text().splitlines()
