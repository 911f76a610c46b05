"""Install the Debian package in a fresh root, use it as its manual says, and purge it: make deb-test.

Needs root, debootstrap and some minutes. Where systemd-nspawn is installed, the root is booted, and the
services are started under all their limits.
"""

import hashlib
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).parents[2]
CORPUS = SOURCE / "corpora" / "spamassassin"
MODEL = ".local/share/spamnb/model.msgpack"
PAGES = sorted((SOURCE / "man").glob("man?/*"))
WANTED = ["procmail", "spamc", "man-db", "systemd-sysv", "dbus-user-session", "libpam-systemd"]


def main(package: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="spamnb-root-"))
    try:
        root = Root(folder / "root")
        root.install(package)
        check_pages(root)
        check_delivery(root)
        if shutil.which("systemd-nspawn"):
            check_services(root)
        else:
            print("services: not started, as systemd-nspawn is not installed")
        check_purge(root)
    finally:
        shutil.rmtree(folder)
    print("all is well")


class Root:
    """A fresh Debian, of the release and from the mirror of this machine, with a user `ann`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.enter = ["chroot", str(path)]
        sources = output(
            ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"]
        )
        codename, mirror = min(
            (line.split() for line in sources.splitlines()), key=lambda words: len(words[0])
        )
        print(f"debootstrap {codename}", flush=True)
        output(["debootstrap", "--variant=minbase", codename, str(path), mirror])
        self.home = path / "home" / "ann"

    def install(self, package: str) -> None:
        """Install a package as a user would, and what its recipes need."""
        shutil.copy(package, self.path / "spamnb.deb")
        self.root("apt-get update -q")
        self.root(
            f"DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends {' '.join(WANTED)}"
        )
        self.root("DEBIAN_FRONTEND=noninteractive apt-get install -q -y /spamnb.deb")
        self.root("useradd --create-home --shell /bin/bash ann")
        for name in ("ham.mbox.xz", "spam.mbox.xz"):
            shutil.copy(CORPUS / name, self.home / name)

    def root(self, command: str, **options) -> str:
        return output([*self.enter, "sh", "-ec", command], **options)

    def ann(self, command: str, **options) -> str:
        return self.root(f"runuser -l ann -c '{command}'", **options)


def check_pages(root: Root) -> None:
    for page in PAGES:
        root.root(f"man -w {page.suffix[1:]} {page.stem}")
    print(f"{len(PAGES)} manual pages")


def check_delivery(root: Root) -> None:
    """Train, classify, and file by the recipe of spamnb-filters(7)."""
    print(root.ann("spamnb --version").strip())
    print(root.ann("spamnb train --ham ham.mbox.xz --spam spam.mbox.xz").strip())
    (root.home / ".procmailrc").write_text(recipe(root))
    root.ann("mkdir -p ~/Maildir")
    os.chown(root.home / ".procmailrc", (root.home).stat().st_uid, -1)
    for label, folder in (("spam", ".Junk/new"), ("ham", "new")):
        message = a_message(label)
        assert root.ann("spamnb classify", stdin=message).startswith(label)
        root.ann("procmail", stdin=message)
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


def a_message(label: str) -> bytes:
    with lzma.open(CORPUS / f"{label}.mbox.xz") as mailbox:
        return mailbox.read(1 << 20).split(b"\n\nFrom ")[0] + b"\n"


ACCOUNT = """[account.home]
host = "127.0.0.1"
tls = "none"
user = "ann"
password_command = "echo secret"
"""


def check_services(root: Root) -> None:
    """Start the services under all their limits, and use those that need no other server."""
    config = root.home / ".config" / "spamnb" / "imap.toml"
    config.parent.mkdir(parents=True)
    config.write_text(ACCOUNT)
    root.ann("spamnb imap train || true")  # no server is there, but this makes the folder of its state
    with booted(root) as leader:

        def system(command: str, stdin: bytes = b"") -> str:
            return output([*enter(leader), "sh", "-ec", command], stdin)

        system("install -d -o spamnb -m 700 /var/lib/spamnb")
        system(f"install -o spamnb -m 600 /home/ann/{MODEL} /var/lib/spamnb/model.msgpack")
        system("systemctl start spamnb.socket spamnb-milter.service spamnb-prune.service")
        for label in ("spam", "ham"):
            said = system("spamc -x", a_message(label))
            assert f"\nX-Spamnb: {label}" in "\n" + said, said
        system("systemctl reload spamnb spamnb-milter")
        system("systemctl is-active spamnb spamnb-milter")
        system("systemctl stop spamnb.service spamnb.socket spamnb-milter.service spamnb-milter.socket")
        for unit, said in (("spamnb", "Deactivated successfully"), ("spamnb-prune", "tokens: ")):
            assert said in system(f"journalctl -u {unit}"), unit

        uid = system("id -u ann").strip()
        system(f"systemctl start user@{uid}")
        as_ann = f"runuser -u ann -- env XDG_RUNTIME_DIR=/run/user/{uid}"
        system(f"{as_ann} systemctl --user start spamnb-prune.service spamnb-imap.service")
        system(f"{as_ann} systemctl --user is-active spamnb-imap.service")
        for said in ("tokens: ", "home: .*refuses connections"):
            system(f"timeout 60 sh -c 'until journalctl _UID={uid} | grep -q \"{said}\"; do sleep 0.2; done'")
    print("services work: spamnb, spamnb-milter, spamnb-prune; of a user spamnb-imap, spamnb-prune")


@contextmanager
def booted(root: Root):
    """Boot the root, with no network but its own; yields the process that all in it descends from."""
    command = [
        "systemd-nspawn",
        "-D",
        str(root.path),
        "--private-network",
        "--register=no",
        "--keep-unit",
        "-b",
    ]
    with open(root.path.parent / "console", "wb") as console:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        end = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < end:
            leader = children.read_text().split()
            state = [*enter(leader[0]), "systemctl", "is-system-running"] if leader else ["false"]
            if subprocess.run(state, capture_output=True, text=True).stdout.strip() in (
                "running",
                "degraded",
            ):
                break
            time.sleep(0.5)
        else:
            raise SystemExit(f"the root does not boot: {(root.path.parent / 'console').read_text()}")
        yield leader[0]
        subprocess.run([*enter(leader[0]), "systemctl", "poweroff"], capture_output=True)
        process.wait(60)
    finally:
        process.kill()
        process.wait()


def enter(leader: str) -> list[str]:
    return [
        "nsenter",
        "-t",
        leader,
        "--mount",
        "--uts",
        "--ipc",
        "--net",
        "--pid",
        "--cgroup",
        "--root",
        "--wd",
    ]


def check_purge(root: Root) -> None:
    """What users have learned stays."""
    kept = {
        path: digest(path)
        for path in (root.home / MODEL, root.path / "var/lib/spamnb/model.msgpack")
        if path.exists()
    }
    assert kept
    root.root("apt-get purge -q -y spamnb")
    assert not (root.path / "usr/bin/spamnb").exists()
    assert {path: digest(path) for path in kept} == kept
    print(f"purged; {len(kept)} models are as they were")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def output(command: list[str], stdin: bytes = b"") -> str:
    """Run a command; what it says is shown where it fails."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr).decode()}"
        )
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main(*sys.argv[1:])
