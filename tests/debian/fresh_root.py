"""Install the Debian package in a fresh root, use it as its manual says, and purge it: make deb-test.

Needs root, debootstrap, systemd-nspawn and some minutes.
"""

import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from contextlib import contextmanager
from pathlib import Path

from helpers.paths import ROOT, SPAMASSASSIN
from helpers.waiting import until

MODEL = ".local/share/spamnb/model.msgpack"
WANTED = "procmail spamc man-db systemd-sysv dbus-user-session libpam-systemd"
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends"
BOOT = ["systemd-nspawn", "--private-network", "--register=no", "--keep-unit", "-b", "-D"]
ENTER = ["nsenter", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", "-t"]


def main(package: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="spamnb-root-"))
    try:
        root = Root(folder / "root")
        root.install(package)
        check_delivery(root)
        check_services(root)
        check_purge(root)
    finally:
        shutil.rmtree(folder)
    print("all is well")


def output(command: list[str], stdin: bytes = b"", environment: dict[str, str] | None = None) -> str:
    """Run a command; what it says is shown where it fails."""
    environment = environment or {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment)
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{said}{done.stderr.decode()}")
    return said


def bare() -> Path:
    """Return a packed small Debian, of the release and mirror of this machine; it stays in build/."""
    wanted = ["--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"]
    sources = output(["apt-get", "indextargets", *wanted]).splitlines()
    codename, mirror = min((line.split() for line in sources), key=lambda words: len(words[0]))
    packed = ROOT / "build" / f"{codename}.tar"
    if not packed.exists():
        print(f"debootstrap {codename}", flush=True)
        packed.parent.mkdir(exist_ok=True)
        output(["debootstrap", "--variant=minbase", codename, f"{packed}.root", mirror])
        output(["tar", "--create", f"--file={packed}.new", f"--directory={packed}.root", "."])
        os.rename(f"{packed}.new", packed)
        shutil.rmtree(f"{packed}.root")
    return packed


def bootstrap(path: Path) -> None:
    path.mkdir(parents=True)
    output(["tar", "--extract", f"--file={bare()}", f"--directory={path}"])


def a_message(label: str) -> bytes:
    with lzma.open(SPAMASSASSIN / f"{label}.mbox.xz") as mailbox:
        return mailbox.read(1 << 20).split(b"\n\nFrom ")[0] + b"\n"


class Root:
    """A fresh Debian, with a user `ann`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = path / "home" / "ann"
        bootstrap(path)

    def install(self, package: str) -> None:
        """Install a package as a user would, and what its recipes need."""
        shutil.copy(package, self.path / "spamnb.deb")
        self.root(f"apt-get update -q && {INSTALL} {WANTED} && {INSTALL} /spamnb.deb")
        self.root("useradd --create-home --shell /bin/bash ann")
        for name in ("ham.mbox.xz", "spam.mbox.xz"):
            shutil.copy(SPAMASSASSIN / name, self.home / name)

    def root(self, command: str, stdin: bytes = b"") -> str:
        return output(["chroot", str(self.path), "sh", "-ec", command], stdin)

    def ann(self, command: str, stdin: bytes = b"") -> str:
        return self.root(f"runuser -l ann -c '{command}'", stdin)


def check_delivery(root: Root) -> None:
    """Train, classify, and file by the recipe of spamnb-filters(7); each command has its manual page."""
    for page in (ROOT / "man").glob("man?/*"):
        root.root(f"man -w {page.suffix[1:]} {page.stem}")
    print(root.ann("spamnb --version").strip())
    print(root.ann("spamnb train --ham ham.mbox.xz --spam spam.mbox.xz").strip())
    (root.home / ".procmailrc").write_text(recipe(root))
    root.ann("mkdir -p ~/Maildir")
    os.chown(root.home / ".procmailrc", root.home.stat().st_uid, -1)
    for label, folder in (("spam", ".Junk/new"), ("ham", "new")):
        message = a_message(label)
        assert root.ann("spamnb classify", message).startswith(label)
        root.ann("procmail", message)
        (filed,) = (root.home / "Maildir" / folder).iterdir()
        assert filed.read_bytes().startswith(b"X-Spamnb: " + label.encode()), filed
    print("procmail files by the recipe of spamnb-filters(7)")


def recipe(root: Root) -> str:
    """Read the first recipe of the page, as a user sees it."""
    shown = root.ann("MANWIDTH=100 LC_ALL=C.UTF-8 man -P cat spamnb-filters")
    section = shown.partition("\nPROCMAIL\n")[2]
    lines = section[section.index("PATH=$HOME") :].splitlines()
    end = next(at for at, line in enumerate(lines) if line.startswith(" " * 7 + "Every"))
    return textwrap.dedent("\n".join([" " * 11 + lines[0], *lines[1:end]])) + "\n"


def check_services(root: Root) -> None:
    """Start the services of the system under all their limits, and use them."""
    with booted(root) as system:
        system("install -d -o spamnb -m 700 /var/lib/spamnb")
        system(f"install -o spamnb -m 600 /home/ann/{MODEL} /var/lib/spamnb/model.msgpack")
        system("systemctl start spamnb.socket spamnb-milter.service spamnb-prune.service")
        for label in ("spam", "ham"):
            said = system("spamc -x -p 7830", a_message(label))
            assert f"\nX-Spamnb: {label}" in "\n" + said, said
        system("systemctl reload spamnb spamnb-milter && systemctl is-active spamnb spamnb-milter")
        system("systemctl stop spamnb.service spamnb.socket spamnb-milter.service spamnb-milter.socket")
        assert "Deactivated successfully" in system("journalctl -u spamnb")
        assert "tokens: " in system("journalctl -u spamnb-prune")
    print("services work: spamnb, spamnb-milter, spamnb-prune")


@contextmanager
def booted(root: Root):
    """Boot the root, with no network but its own; yields what runs a command in it."""
    console = root.path.parent / "console"
    with open(console, "wb") as log:
        process = subprocess.Popen([*BOOT, root.path], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def is_up() -> bool:
        state = [*ENTER, *children.read_text().split()[:1], "systemctl", "is-system-running"]
        return subprocess.run(state, capture_output=True).stdout.strip() in (b"running", b"degraded")

    def system(command: str, stdin: bytes = b"") -> str:
        return output([*ENTER, children.read_text().split()[0], "sh", "-ec", command], stdin)

    try:
        until(is_up, console.read_text)
        yield system
    finally:
        process.terminate()
        process.wait()


def check_purge(root: Root) -> None:
    """What users have learned stays."""
    models = [root.home / MODEL, root.path / "var/lib/spamnb/model.msgpack"]
    before = [path.read_bytes() for path in models]
    root.root("apt-get purge -q -y spamnb")
    assert not (root.path / "usr/bin/spamnb").exists()
    assert [path.read_bytes() for path in models] == before
    print("purged; the models are as they were")


if __name__ == "__main__":
    main(*sys.argv[1:])
