"""A model behind a link is one model, whoever names it; what is no file at all is never replaced."""

import os

import pytest

from spamnb.store.stored_model import StoredModel

MORE = b"Subject: one more\n\nviagra\n"


@pytest.fixture
def link(own, tmp_path):
    """A link to a link to the model, in a folder of its own."""
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "near").symlink_to("far")
    (folder / "far").symlink_to(own)
    return folder / "near"


@pytest.fixture
def words(mail, tmp_path):
    """The words of a command, with paths in place of HAM, SPAM and WORDS."""
    places = {"HAM": mail.ham, "SPAM": mail.spam, "WORDS": str(tmp_path / "words")}
    (tmp_path / "words").write_bytes(b".MSG_COUNT 2 1\nfree 1 1\n")
    return lambda command: [places.get(word, word) for word in command.split()]


CHANGES = ["train --spam -", "train --jobs 1 --ham-loss 2% HAM SPAM", "import --fresh WORDS"]


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_by_a_link_is_changed_in_the_file(spamnb, own, link, words, change):
    spamnb("train", "--spam", "-", "--model", own, stdin=MORE + b"known").succeeds()
    before = StoredModel.open(own)
    spamnb(*words(change), "--model", link, stdin=MORE).succeeds()
    assert sorted(os.listdir(link.parent)) == ["far", "near"]
    assert link.is_symlink()
    after = StoredModel.open(own)
    assert (after.generation, after.journal.size) != (before.generation, before.journal.size)
    assert spamnb("check", link).succeeds()
    said = [spamnb("classify", "--model", path, stdin=MORE).succeeds().out for path in (own, link)]
    assert said[0] == said[1]


def test_a_link_that_leads_nowhere_yet_leads_to_the_new_model(spamnb, tmp_path):
    (tmp_path / "link").symlink_to("model")
    spamnb(
        "train", "--spam", "-", stdin=MORE, env=spamnb.environment | {"SPAMNB_MODEL": str(tmp_path / "link")}
    )
    assert (tmp_path / "link").is_symlink()
    assert StoredModel.open(str(tmp_path / "model")).messages == [0, 1]


@pytest.mark.parametrize("command", ["train --fresh HAM SPAM", "train --spam -", "merge", "prune"])
def test_what_is_no_file_is_refused_and_stays(spamnb, own, tmp_path, words, command):
    place = tmp_path / "place"
    os.mkfifo(place)
    before = place.stat()
    to = [place, own] if command == "merge" else ["--model", place]
    done = spamnb(*words(command), *to, stdin=MORE)
    done.fails(73, "not a regular file", "--model")
    assert b"--fresh" not in done.err
    spamnb("classify", "--model", place, stdin=MORE).fails(65, "not a regular file")
    assert (place.stat().st_mode, place.stat().st_ino) == (before.st_mode, before.st_ino)
