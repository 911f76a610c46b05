"""Where the program starts: straight to a delivery, or on to the command line."""

from __future__ import annotations

import sys

from spamnb import delivery
from spamnb.errors import SpamnbError

TRY_AGAIN = 75


def main() -> int:
    """Run a command; whatever happens, the exit code is one that means it."""
    try:
        run = delivery.parsed(sys.argv[1:])
        if run is not None:
            return run()
        from spamnb.cli import command_line

        return command_line()
    except SpamnbError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
    except MemoryError:
        complain("out of memory")
    except Exception as error:
        complain(f"unexpected {type(error).__name__}: {error}")
    return TRY_AGAIN


def complain(why: str) -> None:
    """One line, whatever a path or a message put into it."""
    line = "".join(char if char.isprintable() else "?" for char in why)
    print(f"spamnb: {line}", file=sys.stderr)
