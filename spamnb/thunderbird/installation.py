"""Writing what Thunderbird needs: the add-on, and where to find the program that it talks to."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

from spamnb.errors import CannotCreate, quoted
from spamnb.files import data_folder, make_folder
from spamnb.imap.service import program, variables

NAME = "spamnb"  # by which the add-on asks for the program
ADD_ON = "spamnb@spamnb.org"  # as in manifest.json
BESIDE = Path(__file__).with_name("add-on")  # of an installed package
SOURCE = Path(__file__).parents[2] / "thunderbird"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of files in the add-on, so that it is the same every time


def install(xpi: str) -> list[str]:
    """Write the add-on to `xpi`, and two files by which Thunderbird finds this program; return all paths."""
    starter = os.path.join(data_folder(), "spamnb", "thunderbird")
    manifest = os.path.join(manifest_folder(), f"{NAME}.json")
    about = {
        "name": NAME,
        "description": "spamnb judges and learns mail for its add-on",
        "path": starter,
        "type": "stdio",
        "allowed_extensions": [ADD_ON],
    }
    for path, text, mode in (
        (starter, starting_script(), 0o700),
        (manifest, json.dumps(about, indent=2) + "\n", 0o600),
    ):
        try:
            make_folder(os.path.dirname(path))
            Path(path).write_text(text, encoding="utf-8")
            os.chmod(path, mode)
        except OSError as error:
            raise CannotCreate(f"{path}: {error.strerror}") from error
    try:
        pack(xpi)
    except OSError as error:
        raise CannotCreate(f"{xpi}: {error.strerror}") from error
    return [starter, manifest, os.path.abspath(xpi)]


def manifest_folder() -> str:
    """Return the folder where Thunderbird looks for programs that add-ons may start."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/Mozilla/NativeMessagingHosts")
    return os.path.expanduser("~/.mozilla/native-messaging-hosts")


def starting_script() -> str:
    """Return a shell script that starts `spamnb thunderbird` without the arguments that Thunderbird adds."""
    settings = [quoted(f"{name}={value}") for name, value in variables().items()]
    return f"#!/bin/sh\nexec {' '.join(['env', *settings, quoted(program())])} thunderbird\n"


def pack(xpi: str) -> None:
    """Write the add-on to `xpi`, as a ZIP file."""
    folder = BESIDE if BESIDE.is_dir() else SOURCE
    with zipfile.ZipFile(xpi, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.iterdir()):
            packed.writestr(zipfile.ZipInfo(path.name, FIRST_DAY), path.read_bytes())
