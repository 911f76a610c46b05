"""Disks that are full or read-only for real: file systems in memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# It mounts a file system that only it sees, and that is gone when it is.
HOLDER = """
mount -t tmpfs -o "$1" tmpfs "$0" && echo mounted
while read mode; do mount -o "$mode" "$0" && echo done; done
"""


class Disk:
    """A file system of its own. `folder` is where it is seen from here, `inside` where it is mounted.

    `prefix`: what a command is to be started with there.
    """

    def __init__(self, folder: str, kilobytes: int) -> None:
        rights = [] if os.getuid() == 0 else ["--user"]
        mapped = [*rights, "--map-root-user"] if rights else []
        command = ["unshare", "--mount", *mapped, "sh", "-c", HOLDER, folder, f"size={kilobytes}k"]
        self.holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.folder = Path(f"/proc/{self.holder.pid}/root{folder}")
        self.prefix = ["nsenter", f"--target={self.holder.pid}", "--mount", "--root", *rights]
        self.prefix += ["--preserve-credentials"] if rights else []
        self.is_there = self.answer() == "mounted\n"

    def answer(self) -> str:
        assert self.holder.stdout
        return self.holder.stdout.readline()

    def inside(self, path: str) -> str:
        return path.removeprefix(f"/proc/{self.holder.pid}/root")

    def remount(self, mode: str) -> None:
        assert self.holder.stdin
        self.holder.stdin.write(f"remount,bind,{mode}\n")  # all that a user other than root may change
        self.holder.stdin.flush()
        assert self.answer() == "done\n"

    def fill(self, room: int) -> None:
        """Leave so many bytes free."""
        self.empty()
        there = os.statvfs(self.folder)
        with open(self.folder / "filling", "wb") as file:
            file.write(bytes(max(0, there.f_bavail * there.f_bsize - room)))

    def empty(self) -> None:
        (self.folder / "filling").unlink(missing_ok=True)


@contextmanager
def a_disk(kilobytes: int) -> Iterator[Disk]:
    with tempfile.TemporaryDirectory(prefix="spamnb-disk-") as folder:
        disk = Disk(folder, kilobytes)
        try:
            if not disk.is_there:
                pytest.skip("nothing can be mounted here")
            yield disk
        finally:
            disk.holder.communicate()
