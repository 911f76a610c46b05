"""Install the filters of bench/peers.py in a bare root of Debian, and compare them with spamnb: make peers.

Needs root, debootstrap and a quarter of an hour; anyone else compares with the filters that are installed
here. The root stays in build/peers for the next time. Mail that `--corpus NAME=HAM,SPAM` names is copied
into it. The source of terminator is cloned, or copied from the folder that TERMINATOR names.
"""

import os
import shutil
import subprocess
import sys

from debian.fresh_root import INSTALL, bootstrap, output
from helpers.paths import ROOT

HERE = ROOT / "build" / "peers"
PACKAGES = "bogofilter bsfilter crm114 ifile spamassassin spamprobe g++ libkyotocabinet-dev"
BUILT = "spamnb man thunderbird pyproject.toml hatch_build.py README.md LICENSE".split()  # into the wheel
PIP = "PIP_CERT=/ca.crt /opt/spamnb/bin/pip install -q /spamnb scikit-learn"
TERMINATOR = "https://github.com/freiz/terminator"
COMPARE = ["/opt/spamnb/bin/python", "/spamnb/bench/beside.py"]


def main(options: list[str]) -> int:
    if os.getuid() or not shutil.which("debootstrap"):
        print("no root or no debootstrap: comparing with what is installed here", file=sys.stderr)
        return subprocess.run([sys.executable, ROOT / "bench" / "beside.py", *options]).returncode
    if not (ready := HERE / "ready").exists():
        shutil.rmtree(HERE, ignore_errors=True)
        bootstrap(HERE)
        inside(f"apt-get update -q && {INSTALL} {PACKAGES} python3-dev python3-venv")
        inside("python3 -m venv /opt/spamnb && touch -d @0 ready")
    if source := os.environ.get("TERMINATOR"):
        shutil.copytree(source, HERE / "opt" / "terminator", dirs_exist_ok=True)
    elif not (HERE / "opt" / "terminator").exists():  # where it cannot be had, the comparison says so
        subprocess.run(["git", "clone", "--quiet", "--depth=1", TERMINATOR, HERE / "opt" / "terminator"])
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", HERE / "ca.crt")
    shutil.rmtree(HERE / "spamnb", ignore_errors=True)
    (HERE / "spamnb").mkdir()
    for name in (*BUILT, "bench", "corpora"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, HERE / "spamnb" / name)
    files = output(["git", "-C", str(ROOT), "ls-files", *BUILT]).splitlines()
    if (changed := max(int((ROOT / name).stat().st_mtime) for name in files)) != ready.stat().st_mtime:
        inside(PIP)
        os.utime(ready, (changed, changed))
    # A namespace of its own: /proc is gone with the command.
    mounted = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    command = ["unshare", "--mount", "sh", "-c", mounted, str(HERE), *COMPARE, *map(copied, options)]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"}  # for ifile
    return subprocess.run(command, env=environment).returncode


def inside(command: str) -> None:
    output(["chroot", str(HERE), "sh", "-ec", command])


def copied(option: str) -> str:
    """Copy the mail that an option names into the root, and return the option for there."""
    name, _, paths = option.rpartition("=")
    if not name or name == "--only":
        return option
    places = [f"/mail/{name.removeprefix('--corpus=')}/{label}" for label in ("ham", "spam")]
    for path, place in zip(paths.split(","), places, strict=True):
        shutil.rmtree(HERE / place[1:], ignore_errors=True)
        subprocess.run(["install", "-d", HERE / os.path.dirname(place[1:])], check=True)
        subprocess.run(["cp", "-RL", path, HERE / place[1:]], check=True)
    return f"{name}={','.join(places)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
