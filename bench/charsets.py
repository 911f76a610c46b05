"""Undeclared charsets: how often text is decoded correctly, by spamnb and by other detectors.

The samples are pieces of 20, 80 and 400 characters from tests/reading/prose.txt, in each usual charset.
Peers: pip install chardet charset-normalizer faust-cchardet PyICU.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from spamnb.core.native import codec, found_text

languages: Any = import_module("reading.test_languages")  # what texts there are, and their charsets
SIZES = (20, 80, 400)
PIECES = 40  # of each language, charset and size


def spamnb(data: bytes) -> str:
    return found_text(data, "")[1]


def chardet(data: bytes) -> str:
    return import_module("chardet").detect(data)["encoding"] or ""


def charset_normalizer(data: bytes) -> str:
    best = import_module("charset_normalizer").from_bytes(data).best()
    return best.encoding if best else ""


def cchardet(data: bytes) -> str:
    return import_module("cchardet").detect(data)["encoding"] or ""


def icu(data: bytes) -> str:
    detector = import_module("icu").CharsetDetector()
    detector.setText(data)
    return str(detector.detect().getName())


def main() -> None:
    found = dict(samples())
    print("| detector | " + " | ".join(f"{size} characters" for size in SIZES) + " | µs each |")
    print("|---|" + "--:|" * (len(SIZES) + 1))
    for detector in (spamnb, chardet, charset_normalizer, cchardet, icu):
        try:
            detector("é".encode("latin-1") * 10)
        except ImportError:
            print(f"| {detector.__name__}: not installed |")
            continue
        start = time.process_time()
        right = [100 * share_read(detector, found[size]) for size in SIZES]
        took = (time.process_time() - start) / sum(map(len, found.values())) * 1e6
        print(
            f"| {detector.__name__} | "
            + " | ".join(f"{share:.1f} %" for share in right)
            + f" | {took:,.0f} |"
        )


def samples() -> Iterator[tuple[int, list[tuple[str, bytes]]]]:
    """Yield each size with its samples: pairs of a text, and the bytes of the text in a charset."""
    texts = languages.prose()
    for size in SIZES:
        chosen = random.Random(size)
        yield (
            size,
            [
                (sample.text, sample.data)
                for language, charsets in languages.CHARSETS.items()
                for charset in charsets
                for sample in pieces(charset, texts[language], size, chosen)
            ],
        )


def pieces(charset: str, text: str, size: int, chosen: random.Random) -> Iterator[Any]:
    """Yield pieces of a text, of `size` characters, that begin with a word and are not all ASCII."""
    for _ in range(PIECES):
        start = chosen.randrange(max(1, len(text) - size))
        start = text.find(" ", start, start + 40) + 1 or start
        sample = languages.Sample(charset, text[start : start + size].replace("\n", " "))
        if not sample.data.isascii() or charset.startswith("iso-2022"):
            yield sample


def share_read(detector: Callable[[bytes], str], found: list[tuple[str, bytes]]) -> float:
    """Return the share of samples that are decoded correctly with the charset that a detector names."""
    right = 0
    for text, data in found:
        name = codec(detector(data))
        read = data.decode(name, "replace") if name else found_text(data)[0]
        right += words_of(read) == words_of(text)
    return right / len(found)


def words_of(text: str) -> set[str]:
    """Return the words that spamnb reads in a text."""
    return {*languages.words(languages.mail(text.encode(), languages.plain("utf-8"), "8bit"))}


if __name__ == "__main__":
    main()
