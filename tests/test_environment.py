"""Tests run in an environment of their own, whatever the caller's is."""

import json
import os
import subprocess
import sys

from helpers.paths import TESTS

CALLERS = {
    **dict.fromkeys(("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUTF8", "PIP_USER", "GIT_DIR"), "1"),
    **dict.fromkeys(("LC_MESSAGES", "SPAMNB_MODEL", "XDG_DATA_HOME", "http_proxy", "USER"), "other"),
    **{"HOME": "/", "LANG": "C", "SOURCE_DATE_EPOCH": "1", "TMPDIR": "/usr", "TZ": "Asia/Kathmandu"},
}
SHOWN = "import helpers.environment, json, os; print(json.dumps([dict(os.environ), os.umask(0)]))"


def test_nothing_of_the_callers_is_left(tmp_path):
    (tmp_path := tmp_path / "ä b").mkdir()
    asked = {"PATH": "/bin", "PYTHONPATH": str(TESTS), "TMPDIR": str(tmp_path), "SPAMNB_LONG": "1"}
    command = [sys.executable, "-c", SHOWN]
    done = subprocess.run(command, env=CALLERS | asked, umask=0o077, stdout=subprocess.PIPE, check=True)
    environment, umask = json.loads(done.stdout)
    assert umask == 0o022
    folder = environment.pop("TMPDIR")
    assert folder.isascii()
    assert environment.pop("HOME").startswith(f"{folder}/spamnb-home-")
    assert int(environment.pop("SOURCE_DATE_EPOCH")) > int(os.environ["SOURCE_DATE_EPOCH"]) - 1
    assert environment.pop("PATH").startswith("/bin:")
    assert environment == {"LANG": "C.UTF-8", "SPAMNB_LONG": "1", "TZ": "UTC"}
