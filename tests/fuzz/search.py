"""One search by libFuzzer, in the process that it ends: the name of a target, then options of libFuzzer."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from fuzz.build import DRIVER
from fuzz.common import in_time
from fuzz.targets import TARGETS

LIBRARY = ctypes.PyDLL(str(DRIVER))  # it calls Python, and nobody else runs


def main(name: str, options: list[str]) -> None:
    target = TARGETS[name]
    seeds = Path(tempfile.mkdtemp())
    for number, seed in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(seed)
    gc.freeze()  # what is there now is not looked at again
    search(in_time(target.check), [name, *options, str(seeds)])


def search(check: Callable[[bytes], None], options: list[str]) -> None:
    def run(data: int, size: int) -> int:
        try:
            check(ctypes.string_at(data, size))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os.abort()  # libFuzzer keeps the bytes
        return 0

    words = (ctypes.c_char_p * (len(options) + 1))(*map(os.fsencode, options))
    count, start = ctypes.c_int(len(options)), ctypes.pointer(words)
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    sys.exit(LIBRARY.LLVMFuzzerRunDriver(ctypes.byref(count), ctypes.byref(start), kind(run)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
