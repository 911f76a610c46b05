"""Where the model lies if nobody names it: in the home, if there is one."""

import os
import sys

import pytest

START = "import sys; from spamnb.__main__ import main; sys.exit(main())"
NOBODY = 54321  # a uid that passwd does not list
UNLISTED = f"import pwd; real = pwd.getpwuid; pwd.getpwuid = lambda uid: real({NOBODY}); " + START
MESSAGE = b"Subject: hello\n\nhow are you\n"


def homeless(spamnb, folder, *arguments, **environment):
    """Run as a user whom passwd does not list, with no $HOME."""
    kept = {name: value for name, value in spamnb.environment.items() if name not in ("HOME", "SPAMNB_MODEL")}
    command = [sys.executable, "-c", UNLISTED, *map(str, arguments)]
    return spamnb.run(command, MESSAGE, env=kept | environment, cwd=folder)


@pytest.mark.parametrize("arguments", ["classify", "train --spam -", "train --ham ham", "inspect"])
def test_without_a_home_a_model_has_to_be_named(spamnb, tmp_path, arguments):
    (tmp_path / "ham").write_bytes(MESSAGE)
    homeless(spamnb, tmp_path, *arguments.split()).fails(75, "no home folder", "--model", "$SPAMNB_MODEL")
    assert os.listdir(tmp_path) == ["ham"]


def test_without_a_home_a_named_model_is_used(spamnb, tmp_path):
    homeless(spamnb, tmp_path, "train", "--spam", "-", "--model", tmp_path / "one").succeeds()
    homeless(spamnb, tmp_path, "train", "--spam", "-", SPAMNB_MODEL=str(tmp_path / "two")).succeeds()
    assert {"one", "two"} <= set(os.listdir(tmp_path))


def test_a_relative_data_folder_is_ignored(spamnb, tmp_path):
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    environment = {"HOME": str(home), "XDG_DATA_HOME": "./data"}
    homeless(spamnb, here, "train", "--spam", "-", **environment).succeeds()
    assert (home / ".local" / "share" / "spamnb" / "model.msgpack").exists()
    assert os.listdir(here) == []
