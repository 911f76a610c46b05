"""Where the program starts: straight to a delivery, or on to the command line."""

from __future__ import annotations

import gc
import os
import sys

from spamnb.delivery import stdin as delivery
from spamnb.errors import InputOutputError, ReaderGone, SpamnbError
from spamnb.files import complain, keep_handles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TRY_AGAIN = SpamnbError.exit_code


def main() -> int:
    """Run a command; whatever happens, the exit code is one that means it."""
    gc.disable()  # until the imports are done: 2 ms of a delivery, which needs none of it
    code = heeded(straight)
    if code is None:
        gc.enable()
        code = heeded(command_line)
    return TRY_AGAIN if code is None else code


def straight() -> int | None:
    """A delivery; None if more is asked for. All is written when it ends: tidying up would take 4 ms."""
    keep_handles()
    run = delivery.parsed(sys.argv[1:])
    if run is not None:
        os._exit(heeded(run) or 0)
    return None


def command_line() -> int:
    heed_interrupts_once()
    from spamnb import cli

    return cli.command_line()


def heeded(run: Callable[[], int | None]) -> int | None:
    try:
        return run()
    except ReaderGone:
        signal = "SIGPIPE"
    except SpamnbError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
        signal = "SIGINT"
    except MemoryError:
        complain("out of memory")
        return TRY_AGAIN
    except OSError as error:
        complain(f"input or output failed: {error}")
        return InputOutputError.exit_code
    except Exception as error:
        complain(f"unexpected {type(error).__name__}: {error}")
        return TRY_AGAIN
    die_of(signal)  # only here: with the exception go the frames it held, and they tidy up
    return TRY_AGAIN


def die_of(name: str) -> None:
    """End by a signal, as programs do that leave it alone: a shell then ends its loop or pipeline, too."""
    import signal

    number = signal.Signals[name]
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def heed_interrupts_once() -> None:
    """A second Ctrl-C would disturb the tidying up. Where the first is ignored, it stays so."""
    import signal  # brings enum, for which a delivery has no use

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
