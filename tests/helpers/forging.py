"""Damage a bit of a file, or forge models and journal records, with correct checksums."""

from __future__ import annotations

import os
from binascii import crc32
from copy import deepcopy
from typing import Any

import msgpack

FRONT = ("format", "version", "crc32", "head")


def flip(path: str | os.PathLike[str], at: int, bit: int = 1) -> None:
    """Invert bits of the byte at `at` in a file (`bit` is a mask); a second call restores them."""
    with open(path, "r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ bit]))


def changed(known: Any, places: tuple[Any, ...], value: object) -> Any:
    """Return a copy of nested maps and lists with `value` at the path `places` (Ellipsis: item removed)."""
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
    """Return a model file with `value` in its head, and new `columns`, whose checksums in it stay old."""
    model: dict[str, Any] = msgpack.unpackb(data) | columns
    model["head"] = changed(model["head"], places, value)
    model["crc32"] = crc32(msgpack.packb(model["head"]))
    packed = [msgpack.packb(item) for name in FRONT for item in (name, model.pop(name))]
    for name, content in model.items():
        packed.append(msgpack.packb(name) + b"\xc6" + len(content).to_bytes(4, "big") + content)
    return b"".join([msgpack.Packer().pack_map_header(len(FRONT) + len(model)), *packed])


def forged_fields(fields: Any, places: tuple[Any, ...], value: object) -> bytes:
    """Return the fields of a journal record, packed, with `value` at the path `places`."""
    plain = {key: bytes(old) if isinstance(old, memoryview) else old for key, old in fields.items()}
    return bytes(msgpack.packb(changed(plain, places, value)))
