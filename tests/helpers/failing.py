"""Let strace make system calls fail, as they would on a broken disk or a special file system."""


def failing(log, call, error, *paths, when="1+"):
    """Return words before a command that make `call` fail with `error` on `paths`; strace writes `log`."""
    only = [word for path in paths for word in ("-P", str(path))]
    return [
        *("strace", "-f", "-qq", "-y", "-o", str(log), *only),
        *("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}"),
    ]


def failed(log):
    """Return the lines of `log` with the calls that were made to fail."""
    return [line for line in log.read_text().splitlines() if line.endswith("(INJECTED)")]
