"""Mail that may not be read: no input, whether it is named or lies in a folder."""

import pytest
from helpers.homes import AS_ANYBODY
from helpers.programs import needs

pytestmark = needs("setpriv")


@pytest.fixture
def run(spamnb):
    """The program, run as somebody to whom a file can be closed."""

    def run(*arguments, **options):
        return spamnb.run([*AS_ANYBODY, spamnb.program, *arguments], **options)

    return run


@pytest.fixture
def folder(tmp_path, mail):
    """Two messages, one of which may not be read."""
    place = tmp_path / "mail"
    place.mkdir()
    (place / "open").write_bytes(mail.messages["ham"])
    (place / "closed").write_bytes(mail.messages["spam"])
    (place / "closed").chmod(0)
    return place


@pytest.mark.parametrize(
    "command", ["train --ham", "forget", "classify", "classify -p", "classify -e", "inspect"]
)
def test_a_file_that_is_named(run, own, folder, command):
    for path, why in ((folder / "closed", "permission denied"), (folder / "missing", "no such file")):
        run(*command.split(), path, "--model", own).fails(66, str(path), why)


@pytest.mark.parametrize("command", ["train --ham", "forget", "classify"])
def test_a_file_in_a_folder(run, own, folder, command):
    done = run(*command.split(), folder, "--model", own)
    assert (done.code, done.err.decode()) == (66, f"spamnb: {folder}/closed: permission denied\n")
    assert done.out


@pytest.mark.parametrize(
    "command", ["import closed", "merge new closed", "classify --model closed", "check closed"]
)
def test_other_files(run, folder, command):
    words = [str(folder / word) if word in ("closed", "new") else word for word in command.split()]
    run(*words, stdin=b"Subject: x\n\n").fails(66, "ermission denied")
