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
from types import FrameType

from fuzz.build import DRIVER
from fuzz.common import in_time
from fuzz.targets import TARGETS

import spamnb

SOURCES = spamnb.__path__[0]
LINES = 1 << 14  # counters of lines of Python
LIBRARY = ctypes.PyDLL(str(DRIVER))  # it calls Python, and nobody else runs


def main(name: str, options: list[str]) -> None:
    target = TARGETS[name]
    seeds, words = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp()) / "words"
    for number, seed in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(seed)
    words.write_text("# some have none\n" + "".join(f'"{escaped(word)}"\n' for word in target.words))
    kept = count_lines() if target.in_python else None  # noqa: F841, libFuzzer has their addresses
    gc.freeze()  # what is there now is not looked at again
    again = f"{sys.executable} -m fuzz.search {name}"  # how libFuzzer starts a process for -merge
    search(in_time(target.check), [again, *options, f"-dict={words}", str(seeds)])


def escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


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


def count_lines() -> list[ctypes.Array]:
    """Have libFuzzer guided by the lines of Python that run, too, as by the edges of what is compiled."""
    counters = (ctypes.c_uint8 * LINES)()
    places = (ctypes.c_size_t * (2 * LINES))(*range(1, 2 * LINES, 2))
    for made, register in ((counters, "8bit_counters"), (places, "pcs")):
        start = ctypes.addressof(made)
        getattr(LIBRARY, f"__sanitizer_cov_{register}_init")(
            ctypes.c_void_p(start), ctypes.c_void_p(start + ctypes.sizeof(made))
        )

    def entered(frame: FrameType, _event: str, _value: object) -> Callable | None:
        return passed if frame.f_code.co_filename.startswith(SOURCES) else None

    def passed(frame: FrameType, event: str, _value: object) -> Callable:
        if event == "line":
            place = (id(frame.f_code) // 16 * 31 + frame.f_lineno) % LINES
            counters[place] = counters[place] + 1 & 255
        return passed

    sys.settrace(entered)
    return [counters, places]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
