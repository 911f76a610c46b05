"""Ham and spam given under each other's label: noticed before anything is changed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.samples import ham, spam

from spamnb.errors import UsageError
from spamnb.training.known_messages import refuse_swapped_labels


@pytest.fixture
def plain(mail, tmp_path):
    """Folders of mail whose names tell nothing."""
    folders = {name: str(tmp_path / f"folder{n}") for n, name in enumerate(("ham", "spam"))}
    for name, folder in folders.items():
        os.symlink(getattr(mail, name), folder)
    return replace(mail, **folders)


def put(folder, *messages):
    folder.mkdir()
    for n, raw in enumerate(messages):
        (folder / f"{n:02}").write_bytes(raw)
    return folder


def contents(model):
    """A model and what is beside it, but for the files that are only there to be locked."""
    files = {path: path.read_bytes() for path in Path(model).parent.glob("model*")}
    return {path: data for path, data in files.items() if data}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_swapped_folders_change_nothing(spamnb, plain, own, jobs):
    spamnb("train", "--model", own, "--spam", "-", stdin=spam(99)).succeeds()  # one is in the journal
    before = contents(own)
    train = ("train", "--model", own, "--jobs", jobs, plain.spam, plain.ham)
    said = (
        "14 of 14 messages learned as ham would become spam",
        "14 of 15 messages learned as spam would become ham",
        "forget",
    )
    spamnb(*train).fails(64, *said)
    assert contents(own) == before


def test_names_that_contradict_their_labels_are_refused_from_the_first_training_on(spamnb, tmp_path):
    put(tmp_path / "spam", spam(1), spam(2))
    put(tmp_path / "Inbox", ham(1), ham(2))
    train = ("train", "--jobs", "1", "--model", tmp_path / "model", tmp_path / "spam", tmp_path / "Inbox")
    said = (
        f"{tmp_path}/spam as ham and {tmp_path}/Inbox as spam: are these swapped? Ham comes first.",
        "Nothing was changed",
        "use --ham and",
    )
    spamnb(*train).fails(64, *said)
    assert not (tmp_path / "model").exists()
    spamnb(*train[:-2], "--ham", tmp_path / "spam", "--spam", tmp_path / "Inbox").succeeds()


def test_corrections_are_moved(spamnb, plain, own, tmp_path):
    train = ("train", "--jobs", "1", "--model", own)
    few = put(tmp_path / "few", *map(ham, range(1, 8)))
    assert spamnb(*train, "--spam", few).succeeds().lines[0] == "spam: 7 moved here from another label"
    assert spamnb(*train, plain.ham, plain.spam).succeeds().lines[0].startswith("ham: 7 moved here")
    assert spamnb(*train, "--spam", "-", stdin=ham(1)).succeeds().lines == [
        "spam: 1 moved here from another label"
    ]


@pytest.mark.parametrize(
    ("ham_to", "learned", "refused"),
    [
        ((0, 9), 9, False),  # too few to matter
        ((0, 10), 10, True),
        ((0, 501), 1000, True),
        ((0, 500), 1000, False),  # a folder of corrections
        ((99, 900), 1000, True),  # nearly all of those that are met
        ((101, 899), 1000, False),
    ],
)
def test_the_rule(ham_to, learned, refused):
    met = [ham_to, (0, 77)]
    known = [learned, 77]
    if refused:
        with pytest.raises(UsageError):
            refuse_swapped_labels(("ham", "spam"), met, known)
    else:
        refuse_swapped_labels(("ham", "spam"), met, known)
