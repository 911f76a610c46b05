"""The start of the program: one message is judged or learned at once; `spamnb.cli` handles all else."""

import gc
import os
import sys

gc.disable()  # collecting takes 2 ms of a delivery, which makes little garbage
try:
    from spamnb.delivery.commands import parse
    from spamnb.errors import InputOutputError, ReaderGone, SpamnbError
    from spamnb.files import complain, refuse_password, reserve_standard_handles
# Python would exit with 1, which reads as "ham".
except (ImportError, MemoryError) as error:
    os.write(2, f"spamnb: cannot start: {error}\n".encode())
    os._exit(75)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TRY_AGAIN = SpamnbError.exit_code
GC_THRESHOLD = 20_000  # new objects between two collections; with 700, loading numpy takes 15 ms longer


def main() -> int:
    """Run the command in `sys.argv`, and return its exit code; never raise an error."""
    code = exit_code_of(run_delivery)
    if code is None:
        gc.set_threshold(GC_THRESHOLD)
        gc.enable()
        code = exit_code_of(run_command_line)
        gc.freeze()  # else the interpreter's shutdown takes 30 ms to search the objects of numpy and click
    return TRY_AGAIN if code is None else code


def run_delivery() -> int | None:
    """If the arguments ask to judge or learn one message, do so and end the process; else return None.

    The process ends by `os._exit`, without the interpreter's shutdown (4 ms): all output is written by then.
    """
    reserve_standard_handles()
    run = parse(sys.argv[1:])
    if run is not None and (code := exit_code_of(run)) is not None:
        os._exit(code)
    return None


def run_command_line() -> int:
    for argument in sys.argv:
        refuse_password(argument)
    ignore_second_interrupt()
    # numpy starts a thread per core, which takes 20 ms and is not needed here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from spamnb import cli

    return cli.command_line()


def exit_code_of(run: "Callable[[], int | None]") -> int | None:
    """Call `run`, print any error, and return the exit code; on Ctrl-C or closed output, end by a signal."""
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
    except ImportError as error:
        complain(f"cannot start: {error}")
        return TRY_AGAIN
    except OSError as error:
        complain(f"input or output failed: {error}")
        return InputOutputError.exit_code
    except Exception as error:
        complain(f"unexpected {type(error).__name__}: {error}")
        return TRY_AGAIN
    end_by_signal(signal)  # only now: the exception is gone, and the frames it held have cleaned up
    return TRY_AGAIN


def end_by_signal(name: str) -> None:
    """End this process by a signal, without a handler, so that a shell loop that runs spamnb ends, too."""
    import signal

    number = signal.Signals[name]
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def ignore_second_interrupt() -> None:
    """Stop the program at the first Ctrl-C and ignore any later one; if Ctrl-C is ignored, do nothing."""
    import signal  # it imports enum, which a delivery does without

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)


if __name__ == "__main__":
    sys.exit(main())
