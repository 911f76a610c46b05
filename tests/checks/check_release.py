"""What `make release` writes beside the files of a release: sums, signatures, a recipe for Arch Linux."""

import hashlib
import re
import runpy
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import pytest
import yaml
from helpers.paths import ROOT
from helpers.programs import needs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import spamnb

RELEASE = runpy.run_path(str(ROOT / ".ci" / "release"))


@pytest.fixture
def key(monkeypatch):
    """A throwaway key, in a keyring of its own: its folder's name is short, as a socket is made there."""
    folder = tempfile.mkdtemp(prefix="gpg-")
    monkeypatch.setenv("GNUPGHOME", folder)
    made = ["--batch", "--passphrase", "", "--quick-generate-key", "releaser@example.org", "ed25519", "sign"]
    subprocess.run(["gpg", "-q", *made], check=True)
    yield "releaser@example.org"
    subprocess.run(["gpgconf", "--kill", "all"], check=True)
    shutil.rmtree(folder)


@needs("gpg")
def test_each_file_is_signed_and_a_changed_one_is_noticed(key, tmp_path):
    wheel, sums = tmp_path / "spamnb.whl", tmp_path / "SHA256SUMS"
    wheel.write_bytes(b"a wheel")
    RELEASE["write_sums"](tmp_path)
    RELEASE["sign"](tmp_path, key)
    assert sums.read_text() == f"{hashlib.sha256(b'a wheel').hexdigest()}  spamnb.whl\n"

    def is_genuine(path: Path) -> bool:
        return not subprocess.run(
            ["gpg", "-q", "--verify", f"{path}.asc", path], capture_output=True
        ).returncode

    assert is_genuine(wheel)
    assert is_genuine(sums)
    wheel.write_bytes(b"another wheel")
    assert not is_genuine(wheel)


def test_what_keeps_a_version_from_release_is_said():
    found = "\n".join(RELEASE["found"]("9.9.9"))
    assert "spamnb/__init__.py has another version" in found
    assert "CHANGELOG.md has no line `## 9.9.9 (YYYY-MM-DD)`" in found


def test_the_recipe_of_arch_linux_asks_for_what_spamnb_needs():
    recipe = (ROOT / "arch" / "PKGBUILD").read_text()
    subprocess.run(["bash", "-n", ROOT / "arch" / "PKGBUILD"], check=True)
    assert f"\npkgver={spamnb.__version__}\n" in recipe
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {f"python-{canonicalize_name(Requirement(one).name)}" for one in asked}
    (depends,) = re.findall(r"^depends=\((.*)\)", recipe, re.MULTILINE)
    assert set(depends.split()) == {"python", *names}


def test_pypi_is_reached_without_a_password():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()
