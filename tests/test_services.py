"""The units of systemd: nothing is wrong with them, and they may do little."""

import os
import re
import subprocess
import sys

import pytest
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.recipes import blocks, recipe
from helpers.waiting import PATIENCE

from spamnb.serve.options import DEFAULT_ADDRESS, Options

OF_IMAP = ROOT / "spamnb" / "imap" / "spamnb-imap.service"
UNITS = {path: path.read_text() for path in (*sorted((ROOT / "systemd").glob("*/*")), OF_IMAP)}
SERVICES = [path for path in UNITS if path.suffix == ".service"]
MAX_EXPOSED = 2.0


@pytest.mark.parametrize(("page", "name"), [("spamc", "spamnb"), ("milter", "spamnb-milter")])
@pytest.mark.parametrize("kind", ["service", "socket"])
def test_pages_show_the_very_units(page, name, kind):
    assert recipe(page, "systemd", f"systemd-{kind}") == UNITS[ROOT / "systemd" / "system" / f"{name}.{kind}"]


def test_the_page_of_services_shows_the_very_units():
    shown = [block.code for block in blocks(ROOT / "docs" / "services.md") if block.language == "systemd"]
    assert shown
    assert set(shown) <= set(UNITS.values())


@needs("systemd-analyze")
@pytest.mark.parametrize("scope", ["system", "user"])
def test_systemd_finds_nothing_wrong(scope, tmp_path):
    """The program is where it is here, and the user one there is."""
    program = os.path.join(os.path.dirname(sys.executable), "spamnb")
    paths = []
    for path, text in UNITS.items():
        if scope == ("user" if path == OF_IMAP else path.parent.name):
            paths.append(tmp_path / path.name)
            text = text.replace("ExecStart=spamnb ", f'ExecStart="{program}" ')
            paths[-1].write_text(text.replace("User=spamnb", "User=daemon"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--{scope}", *paths],
        capture_output=True,
        timeout=PATIENCE,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "warning", "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@needs("systemd-analyze")
def test_services_may_do_little():
    for path in SERVICES:
        command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(path)]
        said = subprocess.check_output(command, text=True, timeout=PATIENCE)
        level = re.search(r"exposure level for \S+: ([\d.]+)", said)
        assert level, said
        assert float(level[1]) <= MAX_EXPOSED, said


def test_clients_of_all_pages_ask_where_the_server_listens():
    """At one port, and with no message that is too large for the server."""
    port = DEFAULT_ADDRESS.rpartition(":")[2]
    unit = UNITS[ROOT / "systemd" / "system" / "spamnb.socket"]
    assert set(re.findall(r"^ListenStream=.*:(\d+)$", unit, re.MULTILINE)) == {port}
    pages = [path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))]
    pages.append((ROOT / "compose.yaml").read_text())
    asked = [found for page in pages for found in re.findall(r"spamc .*?-p[ ,\"]+(\d+)", page)]
    sizes = [int(found) for page in pages for found in re.findall(r"spamc .*?-s (\d+)", page)]
    assert len(asked) > 4
    assert set(asked) == {port}
    assert len(sizes) > 2
    assert max(sizes) <= Options.max_size
