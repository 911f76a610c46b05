"""Install each file of dist/ in a bare root, and do there what README.md says: make first-hour.

Needs root, debootstrap and some minutes. `make dist-test` tries wheels for other Pythons than the root's.
"""

import lzma
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from debian.fresh_root import INSTALL, Root
from helpers.paths import ROOT, SPAMASSASSIN

README = (ROOT / "README.md").read_text()
COMMAND = re.compile(r"^    \$ (spamnb (?:train|classify|inspect|evaluate).*?)(?:  #.*)?$", re.MULTILINE)
MESSAGES = 200  # of each label, as ann has them
PIP = "python3 -m venv /opt/spamnb && PIP_CERT=/ca.crt /opt/spamnb/bin/pip install -q"
LINK = "ln -s /opt/spamnb/bin/spamnb /usr/local/bin/spamnb"
REMOVE = "rm -r /opt/spamnb /usr/local/bin/spamnb"


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="spamnb-hour-"))
    try:
        root = Root(folder / "root")
        prepare(root)
        for file, install, remove in ways(root):
            shutil.copy(file, root.path)
            root.root(install)
            first_hour(root)
            root.root(f"{remove}; rm -rf /home/ann/.local /home/ann/Maildir")
            print(f"{file.name}: installed, and all of README works", flush=True)
    finally:
        shutil.rmtree(folder)


def prepare(root: Root) -> None:
    """Give ann folders of ham and spam, a message, and the programs that README names."""
    root.root(f"apt-get update -q && {INSTALL} procmail spamc && useradd --create-home --shell /bin/bash ann")
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root.path / "ca.crt")
    for label in ("ham", "spam"):
        (root.home / label).mkdir()
        mailbox = lzma.decompress((SPAMASSASSIN / f"{label}.mbox.xz").read_bytes())
        for number, message in enumerate(mailbox.split(b"\n\nFrom ")[:MESSAGES]):
            (root.home / label / str(number)).write_bytes(message.partition(b"\n")[2] + b"\n")
    shutil.copy(root.home / "spam" / "0", root.home / "message")
    recipe = re.search(r"```procmail\n(.*?)```", README, re.DOTALL)
    assert recipe
    (root.home / ".procmailrc").write_text(f"PATH=/usr/local/bin:/usr/bin:/bin\nMAILDIR=$HOME\n{recipe[1]}")
    os.chown(root.home / ".procmailrc", root.home.stat().st_uid, -1)


def ways(root: Root):
    """Yield each file that fits, how it is installed, and how it is removed."""
    for package in (ROOT / "dist").glob("*.deb"):
        yield package, f"{INSTALL} /{package.name}", "apt-get purge -q -y --autoremove spamnb"
    root.root(f"{INSTALL} python3-venv")
    tag = root.root("python3 -c \"import sys; print('cp%d%d' % sys.version_info[:2])\"").strip()
    for wheel in (ROOT / "dist").glob(f"*-{tag}-{tag}-*.whl"):
        yield wheel, f"{PIP} /{wheel.name} && {LINK}", REMOVE
    for source in (ROOT / "dist").glob("*.tar.gz"):
        compiler = f"{INSTALL} gcc libc6-dev python3-dev"
        yield source, f"{compiler} && {PIP} /{source.name} && {LINK}", REMOVE


def first_hour(root: Root) -> None:
    """Run the commands of README, deliver by its recipe, and ask the server."""
    for command in COMMAND.findall(README):
        assert root.ann(command).strip(), command
    assert root.ann("spamnb classify < message").startswith("spam\t")
    root.ann("procmail < message")
    assert b"X-Spamnb: spam" in (root.home / "Junk").read_bytes()
    (root.home / "Junk").unlink()
    serve = "spamnb serve & sleep 0.1; until spamc -K -p 7830; do sleep 0.1; done"
    assert "X-Spamnb: spam" in root.ann(f"{serve}; spamc -p 7830 < message; kill %1; wait")


if __name__ == "__main__":
    if os.getuid():
        sys.exit("first-hour: needs root, for debootstrap and chroot")
    main()
