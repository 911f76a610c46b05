"""Make an OCI image of the Debian package and of what it needs, without a registry: make image, as root."""

import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

MADE = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
NAME = "localhost/spamnb:latest"
USER = 10001
MODELS, STATE = "/models", "/state"
CONFIG = {
    "User": f"{USER}:{USER}",
    "Env": [
        "PATH=/usr/bin",
        "LANG=C.UTF-8",
        "PYTHONPATH=/usr/lib/spamnb",  # libraries that Debian has not, for processes that ours start
        "XDG_CONFIG_HOME=/etc",
        "XDG_CACHE_HOME=/tmp",
        f"XDG_STATE_HOME={STATE}",
        f"SPAMNB_MODEL={MODELS}/model.msgpack",
    ],
    "Entrypoint": ["tini", "--", "spamnb"],  # reaps folds, which no server waits for
    "Cmd": ["serve", "--listen", "0.0.0.0:7830", "--allow-network"],
    "ExposedPorts": {"7830/tcp": {}},
    "Volumes": {MODELS: {}, STATE: {}},
    "WorkingDir": STATE,
    "StopSignal": "SIGTERM",
    # No field of OCI: Docker takes it, in nanoseconds; podman does not, so compose.yaml says it once more.
    "Healthcheck": {"Test": ["CMD", "spamc", "-K", "-p", "7830"], "Interval": 30 * 10**9},
}
# Beside what the package depends on.
WANTED = {"ca-certificates", "dash", "python3-stemmer", "spamc", "tini", "tzdata"}
INSTALLERS = {"init-system-helpers", "python3:any", "systemd"}  # Perl and systemd would be 22 MB
PROGRAMS = {"python3", "sh", "spamc", "spamnb", "tini"}  # a journal is folded by way of a shell
# C's character sets are 20 MB, which Python does without. Below `bin` is chosen by name. Licences stay.
NEEDLESS = """
    bin sbin dev/* tmp/* var/* usr/sbin usr/games usr/include usr/libexec lib/systemd usr/lib/systemd
    etc/alternatives etc/apt etc/ca-certificates etc/cron.* etc/debconf.conf etc/dpkg
    etc/fstab etc/hostname etc/logrotate.d etc/resolv.conf
    usr/lib/*/gconv usr/lib/*/perl* usr/lib/valgrind
    usr/share/[!cdpz]* usr/share/d[!o]* usr/share/doc-base usr/share/doc/*/[!c]* usr/share/doc/*/ch*
    usr/share/p[!y]*
    usr/lib/python3*/lib2to3 usr/lib/python3*/pydoc_data usr/lib/python3*/test
    usr/lib/python3/dist-packages/numpy/**/tests usr/lib/python3/dist-packages/pkg_resources
    usr/lib/python3/dist-packages/pygments
""".split()


def main(package: str, images: str) -> None:
    archive = str(Path(images, Path(package).stem + ".tar"))
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    needed = {one.split()[0] for one in field(package, "Depends").split(",")} - INSTALLERS
    with tempfile.TemporaryDirectory(prefix="spamnb-image-") as folder:
        root, wanted = Path(folder, "root"), ",".join(sorted(needed | WANTED))
        unpack = ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", f"--include={wanted}"]
        subprocess.run([*unpack, release, root], check=True)
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
        trim(root)
        layer = packed(root)
    write(archive, layer, field(package, "Version"))
    print(f"{archive}: {os.path.getsize(archive) / 1e6:.0f} MB, unpacked {len(layer) / 1e6:.0f} MB")


def field(package: str, name: str) -> str:
    return subprocess.check_output(["dpkg-deb", "--field", package, name], text=True).strip()


def trim(root: Path) -> None:
    """Leave what spamnb needs, compiled; do what packages do when they are installed."""
    (shell,) = {path.resolve() for path in (root / "bin/dash", root / "usr/bin/dash") if path.exists()}
    shell.rename(root / "usr/bin/sh")
    for pattern in NEEDLESS:
        for path in sorted(root.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    wanted = PROGRAMS | {os.readlink(root / "usr/bin/python3")}
    for path in (root / "usr/bin").iterdir():
        if path.name not in wanted:
            path.unlink()
    (root / "bin").symlink_to("usr/bin")
    for library in ("blas", "lapack"):
        (found,) = root.glob(f"usr/lib/*/{library}/lib{library}.so.3")
        (found.parent.parent / found.name).symlink_to(f"{library}/{found.name}")
    certificates = sorted(root.glob("usr/share/ca-certificates/**/*.crt"))
    bundle = root / "etc/ssl/certs/ca-certificates.crt"
    bundle.write_bytes(b"".join(path.read_bytes() for path in certificates))
    shutil.rmtree(root / "usr/share/ca-certificates")
    (root / "etc/passwd").write_text(f"root:x:0:0::/:\nspamnb:x:{USER}:{USER}::{STATE}:\n")
    (root / "etc/group").write_text(f"root:x:0:\nspamnb:x:{USER}:\n")
    for name in ("etc/spamnb", "proc", "run", "sys"):
        (root / name).mkdir()
    for name in (MODELS, STATE):
        path = Path(f"{root}{name}")
        path.mkdir(mode=0o700)
        os.chown(path, USER, USER)
    # Nobody can write them later; without them a start takes five times as long.
    compiled = ["python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "/usr/lib"]
    subprocess.run(["chroot", root, *compiled], check=True, env={"PATH": "/usr/sbin:/usr/bin"})


def packed(root: Path) -> bytes:
    """Return all files as a tar file, the same for the same files."""
    order = ["--sort=name", "--numeric-owner", "--format=gnu", f"--mtime=@{MADE}"]
    return subprocess.check_output(["tar", "--create", *order, "--directory", root, "."])


def write(archive: str, layer: bytes, version: str) -> None:
    """Write an image of one layer, as OCI has it: each piece by its digest, and an index.

    Docker has its own list of the pieces, which it wants before its version 25.
    """
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(MADE))
    pieces: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def digest(data: bytes) -> str:
        return f"sha256:{hashlib.sha256(data).hexdigest()}"

    def place(data: bytes) -> str:
        return f"blobs/{digest(data).replace(':', '/')}"

    def add(kind: str, data: bytes) -> dict[str, object]:
        pieces[place(data)] = data
        return {
            "mediaType": f"application/vnd.oci.image.{kind}",
            "digest": digest(data),
            "size": len(data),
        }

    config = {
        "created": created,
        "architecture": {"aarch64": "arm64", "x86_64": "amd64"}.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": CONFIG | {"Labels": {"org.opencontainers.image.version": version}},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
    }
    configured, compressed = json.dumps(config).encode(), gzip.compress(layer, 6, mtime=0)
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": add("config.v1+json", configured),
        "layers": [add("layer.v1.tar+gzip", compressed)],
    }
    named = {"org.opencontainers.image.ref.name": NAME, "io.containerd.image.name": NAME}
    index = add("manifest.v1+json", json.dumps(manifest).encode()) | {"annotations": named}
    pieces["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [index]}).encode()
    old = {"Config": place(configured), "RepoTags": [NAME], "Layers": [place(compressed)]}
    pieces["manifest.json"] = json.dumps([old]).encode()
    with tarfile.open(archive, "w") as file:
        for name, data in sorted(pieces.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), MADE
            file.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main(*sys.argv[1:])
