"""Disks that are full, read-only or lose their power, for real: file systems in memory or in a file."""

from __future__ import annotations

import filecmp
import os
import shutil
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


class Room:
    """A file system that can be filled."""

    folder: Path

    def fill(self, room: int) -> None:
        """Leave so many bytes free."""
        self.empty()
        there = os.statvfs(self.folder)
        with open(self.folder / "filling", "wb") as file:
            file.write(bytes(max(0, there.f_bavail * there.f_bsize - room)))

    def empty(self) -> None:
        (self.folder / "filling").unlink(missing_ok=True)


class Disk(Room):
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


class Drive(Room):
    """A file system in a file, mounted for all to see: for root only."""

    def __init__(self, folder: Path, image: Path, megabytes: int, options: str = "noatime") -> None:
        self.folder, self.image, self.options = folder, image, options
        folder.mkdir(parents=True)
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        later = "lazy_itable_init=0,lazy_journal_init=0"  # else it goes on writing by itself
        run("mkfs.ext4", "-q", "-F", "-J", "size=4", "-E", later, image)
        self.mount()
        (folder / "lost+found").rmdir()

    def mount(self) -> None:
        run("mount", "-o", f"loop,{self.options}", self.image, self.folder)

    def unmount(self) -> None:
        run("umount", self.folder)

    def lose_power(self) -> None:
        """Go on with what was written until now; nobody may use it. What was not synced may be gone."""
        before, after = self.image.with_suffix(".before"), self.image.with_suffix(".after")
        shutil.copy(self.image, after)
        while not filecmp.cmp(self.image, after, shallow=False):  # the system was writing
            shutil.copy(self.image, after)
        self.unmount()
        self.image.rename(before)
        after.rename(self.image)
        self.mount()
        before.unlink()


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)
