"""Copy from this Python the libraries of `spamnb imap`, `serve --milter` and `review`, which Debian lacks.

All are pure Python. What spamnb itself depends on is Debian's.
"""

import shutil
import sys
from importlib.metadata import distribution, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("imap", "milter", "review")
LEFT_OUT = ("interact.py", "livetest.py")  # programs of IMAPClient's developers


def needed(name: str, extra: str = "") -> set[str]:
    """Name what a distribution needs here."""
    wanted = map(Requirement, requires(name) or ())
    return {
        canonicalize_name(one.name)
        for one in wanted
        if not one.marker or one.marker.evaluate({"extra": extra})
    }


def bundled() -> set[str]:
    """Name what the extras need, and what that needs in turn, but for what spamnb needs anyway."""
    ours = needed("spamnb")
    found, left = set[str](), set().union(*(needed("spamnb", extra) for extra in EXTRAS)) - ours
    while left:
        found.add(name := left.pop())
        left |= needed(name) - found - ours
    return found


def main(folder: str) -> None:
    for name in bundled():
        for file in distribution(name).files or ():
            if {"..", "__pycache__", *LEFT_OUT} & set(file.parts):
                continue
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), path)
            if file.name == "METADATA":  # dh_python3 would take its dependencies for ours
                lines = path.read_text().splitlines(keepends=True)
                path.write_text("".join(line for line in lines if not line.startswith("Requires-Dist:")))


if __name__ == "__main__":
    main(*sys.argv[1:])
