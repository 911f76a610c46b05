"""Index files of the TREC spam track."""

import os

import pytest

from spamnb.errors import DataError, NoInput
from spamnb.mailboxes.labelled import read_index


@pytest.fixture
def trec(tmp_path):
    """A corpus laid out as TREC does: index beside the data."""
    for name in ("data", "full"):
        (tmp_path / name).mkdir()
    for number in range(1, 5):
        (tmp_path / "data" / f"inmail.{number}").write_text("Subject: hello\n\nhello\n")
    (tmp_path / "data" / "a mail").write_text("Subject: hello\n\nhello\n")

    def write(text):
        path = tmp_path / "full" / "index"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def listed(path):
    return [(label, os.path.basename(message)) for label, message in read_index(path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spam ../data/inmail.1\nham ../data/inmail.2\n", [("spam", "inmail.1"), ("ham", "inmail.2")]),
        ("spam ../data/inmail.2\nspam ../data/inmail.1", [("spam", "inmail.2"), ("spam", "inmail.1")]),
        ("SPAM ../data/inmail.1\r\nHam ../data/inmail.2\r\n", [("spam", "inmail.1"), ("ham", "inmail.2")]),
        ("\n# spam ../data/no\n\n  spam\t ../data/inmail.1  \n", [("spam", "inmail.1")]),
        ("Work ../data/inmail.1\nhome ../data/inmail.2\n", [("Work", "inmail.1"), ("home", "inmail.2")]),
        ("ham ../data/a mail\n", [("ham", "a mail")]),
        ("\ufeffham ../data/inmail.1\n", [("ham", "inmail.1")]),
        ("ham ../data/inmail.1\nham ../data/./inmail.1\n", [("ham", "inmail.1")]),  # once is enough
    ],
)
def test_listed(trec, text, expected):
    assert listed(trec(text)) == expected


def test_paths_are_relative_to_the_index(trec, tmp_path, monkeypatch):
    path = trec(f"spam ../data/inmail.1\nham {tmp_path}/data/inmail.2\n")
    assert all(os.path.isfile(message) for _, message in read_index(path))
    monkeypatch.chdir(tmp_path / "full")
    assert read_index("index") == [
        ("spam", os.path.join("..", "data", "inmail.1")),
        ("ham", f"{tmp_path}/data/inmail.2"),
    ]


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("", DataError, ": lists no messages"),
        ("# nothing\n\n", DataError, ": lists no messages"),
        ("spam ../data/inmail.1\nspam\n", DataError, ", line 2: a label and a path are needed"),
        ("unsure ../data/inmail.1\n", DataError, ", line 1: 'unsure' cannot be a label"),
        (b"sp\x00am ../data/inmail.1\n", DataError, ", line 1: 'sp\\x00am' cannot be a label"),
        (f"{'x' * 101} ../data/inmail.1\n", DataError, "cannot be a label"),
        (
            "spam ../data/inmail.1\n\nham ../full/../data/inmail.1\n",
            DataError,
            "data/inmail.1: listed as ham, but before as spam",
        ),
        ("ham ../data/inmail.1\nspam ../data\n", DataError, "../data: a folder, where a message is needed"),
        ("\nham ../data/inmail.9\n", NoInput, "../data/inmail.9: no such file"),
        (b"ham ../data/in\x00mail\n", NoInput, ", line 1: "),
        (b"ham ../data/\xff\n", NoInput, ", line 1: "),
        ("ham ../data/inmail.1/x\n", NoInput, "../data/inmail.1/x: not a directory"),
    ],
)
def test_refused(trec, text, error, why):
    path = trec(text)
    with pytest.raises(error) as caught:
        read_index(path)
    assert str(caught.value).startswith(path)
    assert why in str(caught.value)


def test_no_index(tmp_path):
    with pytest.raises(NoInput, match="nowhere: no such file"):
        read_index(str(tmp_path / "nowhere"))
    with pytest.raises(NoInput, match="is a directory"):
        read_index(str(tmp_path))
