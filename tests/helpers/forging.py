"""Models and records with a wrong bit, or changed on purpose, their checksums made again."""

from __future__ import annotations

import os
from binascii import crc32
from copy import deepcopy
from typing import Any

import msgpack

FRONT = ("format", "version", "crc32", "head")


def flip(path: str | os.PathLike[str], at: int, bit: int = 1) -> None:
    """Change a bit of a file, or change it back."""
    with open(path, "r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ bit]))


def changed(known: Any, places: tuple[Any, ...], value: object) -> Any:
    """Return maps and lists with another value at a place within them, or without it (`Ellipsis`)."""
    known = deepcopy(known)
    inner = known
    for place in places[:-1]:
        inner = inner[place]
    if value is Ellipsis:
        del inner[places[-1]]
    else:
        inner[places[-1]] = value
    return known


def forged_model(data: bytes, places: tuple[Any, ...], value: object, **columns: bytes) -> bytes:
    """Put another value into the head of a model, and other bytes into columns, described as before."""
    model: dict[str, Any] = msgpack.unpackb(data) | columns
    model["head"] = changed(model["head"], places, value)
    model["crc32"] = crc32(msgpack.packb(model["head"]))
    packed = [msgpack.packb(item) for name in FRONT for item in (name, model.pop(name))]
    for name, content in model.items():
        packed.append(msgpack.packb(name) + b"\xc6" + len(content).to_bytes(4, "big") + content)
    return b"".join([msgpack.Packer().pack_map_header(len(FRONT) + len(model)), *packed])


def forged_fields(fields: Any, places: tuple[Any, ...], value: object) -> bytes:
    """Pack the fields of a record with another value."""
    plain = {key: bytes(old) if isinstance(old, memoryview) else old for key, old in fields.items()}
    return bytes(msgpack.packb(changed(plain, places, value)))
