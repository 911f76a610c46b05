"""A plugin of pytest: `@needs("spamc", "procmail")` skips a test where one of these programs does not start.

A process tries each program once, when a test first needs it. If .ci/run sets SPAMNB_MAY_LACK, the test fails
instead, unless the variable names the program, or the machine may forbid the program to run.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

needs = pytest.mark.needs
PATIENCE = 30  # seconds, on a busy machine; a start takes one at most


# What takes more than one command to try. The helpers are imported late, as they import this module.


@contextmanager
def home() -> Iterator[SimpleNamespace]:
    """Yield an empty home folder that any user may enter."""
    with tempfile.TemporaryDirectory(prefix="spamnb-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "home"
        path.mkdir()
        yield SimpleNamespace(path=path, maildir=path / "Maildir")


def drive_a_browser() -> None:
    from helpers.reviewing import shared_browser

    run("chromedriver", "--version")  # or Selenium looks for one on the network
    shared_browser().get("about:blank")


def start_dovecot() -> None:
    with running_dovecot("imap"):
        pass


def start_sieve() -> None:
    with running_dovecot("imap", "lmtp") as dovecot:
        (script := dovecot.folder / "any.sieve").write_text("keep;\n")
        run("sievec", "-c", dovecot.config, script)


@contextmanager
def running_dovecot(*protocols: str) -> Iterator[Any]:
    from helpers.dovecots import DOVECOT, DovecotProcess

    run(DOVECOT or "dovecot", "--version")
    with home() as there, DovecotProcess(there.path, "", protocols=protocols) as dovecot:
        dovecot.start(seconds=PATIENCE)
        yield dovecot


def start_roundcube() -> None:
    from helpers.roundcubes import roundcube

    with tempfile.TemporaryDirectory() as folder, roundcube(Path(folder)):
        pass


def start_thunderbird() -> None:
    from helpers.thunderbirds import Thunderbird

    with home() as there, Thunderbird(there.path):
        pass


def start_postfix() -> None:
    from helpers.postfixes import Postfix

    with home() as there, Postfix(there):
        pass


def become_others() -> None:
    from helpers.homes import AS_A_USER, AS_ANYBODY

    for rights in (AS_A_USER, AS_ANYBODY):
        run(*rights, "true")


def start_as_another_user() -> None:
    from helpers.homes import WITH_OPEN_PYTHON
    from helpers.logged_in import AS_THE_USER
    from helpers.paths import ROOT

    try:
        run(*WITH_OPEN_PYTHON, *AS_THE_USER, sys.executable, "-c", "import spamnb.core.native")
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"other users cannot read {ROOT}: {error.stderr}") from error


def log_in() -> None:
    from helpers.logged_in import AS_THE_USER, LOGGED_IN

    with home() as there:
        there.path.chmod(0o777)
        run(*LOGGED_IN, *AS_THE_USER, "env", f"HOME={there.path}", "systemctl", "--user", "daemon-reload")


def run(*command: str | Path) -> None:
    subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=True
    )


# Programs, and how each is tried: a command that ends well, or a function that raises nothing.
STARTS: dict[str, str | Callable[[], None]] = {
    "aerc": "aerc -v",
    "bash": "bash -c :",
    "bogofilter": "bogofilter -V",
    "cc": f"cc -I{sysconfig.get_path('include')} -include Python.h -x c -fsyntax-only /dev/null",
    "chromedriver": drive_a_browser,
    "curl": "curl --version",
    "dovecot": start_dovecot,
    "dovecot with lmtp and sieve": start_sieve,
    "fdm": "fdm -nf /dev/null",
    "gpg": "gpg --version",
    "less": "less --version",
    "maildrop": "maildrop -v",
    "man": f"man -l {shlex.quote(str(Path(__file__).parents[2] / 'man/man1/spamnb.1'))}",
    "mounts": "unshare --mount true",
    "mutt": "mutt -v",
    "neomutt": "neomutt -v",
    "notmuch": "notmuch --version",
    "openssl": "openssl version",
    "postfix": start_postfix,
    "procmail": "procmail -v",
    "promtool": "promtool --version",
    "roundcube": start_roundcube,
    "rspamc": "rspamc --help",
    "rspamd": "rspamd --version",
    "sa-learn": "sa-learn --version",
    "setpriv": become_others,
    "spamc": "spamc -V",
    "spamnb as another user": start_as_another_user,
    "strace": f"strace -o {os.devnull} true",
    "systemd --user": log_in,
    "systemd-analyze": "systemd-analyze --version",
    "systemd-socket-activate": "systemd-socket-activate --version",
    "thunderbird": start_thunderbird,
    "tmux": "tmux -V",
}
NOT_INSTALLED = "is not installed"
# In some containers and folders, whatever is installed.
FORBIDDEN = {"mounts", "setpriv", "spamnb as another user", "strace", "systemd --user"}


@cache
def missing(name: str) -> str:
    """Return why a program does not start, or "" if it does."""
    start = STARTS[name]
    try:
        start() if callable(start) else run(*shlex.split(start))
    except (FileNotFoundError, PermissionError) as error:
        return f"{error.filename} {NOT_INSTALLED}"
    except Exception as error:
        said = getattr(error, "stderr", None) or str(error) or repr(error)
        return f"{name} does not start: {' '.join(said.split())[:300]}"
    return ""


def require(name: str) -> None:
    """Skip the test that runs now, or let it fail, unless a program starts."""
    if why := missing(name):
        may_lack = os.environ.get("SPAMNB_MAY_LACK")
        is_forbidden = name in FORBIDDEN and NOT_INSTALLED not in why
        may_skip = may_lack is None or name in may_lack.split() or is_forbidden
        (pytest.skip if may_skip else pytest.fail)(why)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*programs): skipped where one does not start; slow")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            require(name)


def pytest_unconfigure() -> None:
    """End the browser that a test, or `require`, has started."""
    reviewing = sys.modules.get("helpers.reviewing")
    if reviewing and reviewing.shared_browser.cache_info().currsize:
        reviewing.shared_browser().quit()
