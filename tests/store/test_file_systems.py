"""File systems that cannot do all that is asked of them: without maps, locks, or a way to sync a folder."""

import os
from pathlib import Path

import pytest
from helpers.failing import failed, failing
from helpers.programs import needs

from spamnb.store.stored_model import StoredModel

pytestmark = needs("strace")
LESSON = b"Subject: one more\n\nviagra and casino\n"


NO_LOCKS = "this file system has no locks ("


@pytest.mark.parametrize(
    ("error", "command", "said"),
    [
        ("ENOLCK", "--spam -", NO_LOCKS),
        ("EIO", "HAM SPAM", "cannot lock: Input/output error; name another file with --model"),
    ],
)
@pytest.mark.parametrize("is_new", [False, True])
def test_without_locks_nothing_is_learned_and_it_is_said_what_to_do(
    spamnb, own, mail, tmp_path, error, command, said, is_new
):
    path = str(tmp_path / "new") if is_new else own
    words = [{"HAM": mail.ham, "SPAM": mail.work}.get(word, word) for word in command.split()]
    log, before = tmp_path / "log", Path(own).read_bytes()
    arguments = [spamnb.program, "train", *words, "--model", path]
    spamnb.run([*failing(log, "flock", error), *arguments], LESSON).fails(73, said, "--model")
    assert len(failed(log)) == 1
    assert Path(own).read_bytes() == before
    assert not os.path.exists(own + ".journal")
    assert not os.path.exists(tmp_path / "new")


def test_without_locks_mail_is_judged_all_the_same(spamnb, own, mail, tmp_path):
    """Who reads needs none."""
    expected = spamnb("classify", "-p", "-e", "--model", own, stdin=mail.messages["spam"]).succeeds()
    command = [spamnb.program, "classify", "-p", "-e", "--model", own]
    done = spamnb.run([*failing(tmp_path / "log", "flock", "ENOLCK"), *command], mail.messages["spam"])
    assert done == expected


def test_a_folder_that_cannot_be_synced_is_no_failure(spamnb, own, mail, tmp_path):
    """What is in the file was synced; more cannot be done there."""
    log, folder = tmp_path / "log", os.path.dirname(own)
    for command, messages in (("--spam -", [14, 15]), (f"--jobs 1 --ham {mail.work}", [28, 15])):
        tracer = failing(log, "fsync,fdatasync", "EINVAL", folder)
        spamnb.run([*tracer, spamnb.program, "train", *command.split(), "--model", own], LESSON).succeeds()
        assert any(f"<{folder}>" in line for line in failed(log))
        assert StoredModel.open(own).messages == messages
