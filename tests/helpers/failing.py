"""System calls that fail, as on file systems and disks that are not at hand: strace makes them fail."""


def failing(log, call, error, *paths, when="1+"):
    """What to put in front of a command, so that calls on these paths fail; `log` tells which did."""
    only = [word for path in paths for word in ("-P", str(path))]
    return [
        *("strace", "-f", "-qq", "-y", "-o", str(log), *only),
        *("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}"),
    ]


def failed(log):
    """The calls that were made to fail."""
    return [line for line in log.read_text().splitlines() if line.endswith("(INJECTED)")]
