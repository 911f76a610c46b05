"""`spamnb imap watch` as a service of the user: a unit of systemd, or an agent of launchd."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from spamnb.errors import CannotCreate
from spamnb.files import data_folder, make_folder, state_folder, xdg_folder
from spamnb.imap.accounts import default_config, read_accounts

UNIT = "spamnb-imap.service"
AGENT = "org.spamnb.imap"
SESSION = f"gui/{os.getuid()}"  # of this user, to launchd
# Variables of the shell that the service needs.
VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SPAMNB_MODEL")
PATIENCE = 60  # seconds for systemd or launchd


def install() -> list[str]:
    """Install and start `spamnb imap watch` as this user's service; return lines that say what was done."""
    path = service_file()
    read_accounts(default_config())  # so that errors in imap.toml are reported now, not in a log
    if sys.platform == "darwin":
        write(path, agent())
        stop()  # if it was installed before
        commands = [["launchctl", "bootstrap", SESSION, path]]
        after = f"its log: {log_file()}; to end it: spamnb imap service remove"
    elif shutil.which("systemctl"):
        write(path, unit().encode())
        user = ["systemctl", "--user"]
        commands = [[*user, "daemon-reload"], [*user, "enable", UNIT], [*user, "restart", UNIT]]
        after = (
            "it runs while you are logged in, or always after `loginctl enable-linger`; "
            f"its log: journalctl --user -u {UNIT}; to end it: spamnb imap service remove"
        )
    else:
        return [f"there is neither systemd nor launchd here; let your system start: {program()} imap watch"]
    for command in commands:
        if why := run(*command):
            later = (
                "`spamnb imap watch` does the same until you stop it; or repeat: spamnb imap service install"
            )
            return [f"written: {path}", f"it could not be started ({why})", later]
    return [f"written and started: {path}", after]


def remove() -> list[str]:
    """Stop and remove this user's service `spamnb imap watch`; return lines that say what was done."""
    path = service_file()
    if not os.path.exists(path):
        return [f"there is no service: {path} does not exist"]
    why = stop()
    try:
        os.unlink(path)
        with suppress(FileNotFoundError):  # the link by which systemd starts it at login
            os.unlink(os.path.join(os.path.dirname(path), "default.target.wants", UNIT))
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error
    if not why:
        return [f"removed: {path}", "the service has ended"]
    for process in (found := processes()):
        os.kill(process, signal.SIGTERM)
    return [f"removed: {path}", "the service was told to end" if found else "the service was not running"]


def processes() -> list[int]:
    """Return the ids of the processes of this user's service, which systemd keeps in a control group."""
    found = []
    for folder in Path("/proc").glob("[1-9]*"):
        with suppress(OSError):  # it has ended
            if folder.stat().st_uid == os.getuid() and f"/{UNIT}\n" in (folder / "cgroup").read_text():
                found.append(int(folder.name))
    return found


def stop() -> str:
    """Stop the service; with systemd, also disable its start at login. Return why this failed, or ""."""
    if sys.platform == "darwin":
        return run("launchctl", "bootout", f"{SESSION}/{AGENT}")
    return run("systemctl", "--user", "disable", "--now", UNIT)


def service_file() -> str:
    if sys.platform == "darwin":
        return os.path.expanduser(f"~/Library/LaunchAgents/{AGENT}.plist")
    return os.path.join(xdg_folder("XDG_CONFIG_HOME", ".config") or "", "systemd", "user", UNIT)


def unit() -> str:
    """Return the text of the systemd unit, with the program path, folders and environment of this user."""
    text = Path(__file__).with_name(UNIT).read_text(encoding="utf-8")
    lines = [
        f"ExecStart={quoted(program().replace('$', '$$'))} imap watch",
        *(f"Environment={quoted(f'{name}={value}')}" for name, value in variables().items()),
    ]
    text = text.replace("ExecStart=spamnb imap watch", "\n".join(lines))
    text = text.replace("%h/.config/spamnb/imap.toml", default_config().replace("%", "%%"))
    own = [os.path.join(data_folder(), "spamnb"), os.path.dirname(state_folder("imap"))]
    own += [
        os.path.dirname(os.path.expanduser(one.model)) for one in read_accounts(default_config()) if one.model
    ]
    if model := os.environ.get("SPAMNB_MODEL"):
        own.append(os.path.dirname(os.path.abspath(model)))
    writable = " ".join(quoted(f"-{folder}") for folder in dict.fromkeys(own) if folder)
    return text.replace("-%h/.local/share/spamnb -%h/.local/state/spamnb", writable)


def agent() -> bytes:
    """Return the property list of the launchd agent that runs `spamnb imap watch`."""
    import plistlib

    return plistlib.dumps(
        {
            "Label": AGENT,
            "ProgramArguments": [program(), "imap", "watch"],
            "EnvironmentVariables": {"PATH": os.environ.get("PATH", os.defpath)} | variables(),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 60,
            "StandardOutPath": log_file(),
            "StandardErrorPath": log_file(),
        }
    )


def log_file() -> str:
    return os.path.join(state_folder("imap"), "watch.log")


def program() -> str:
    """Return the path of this program; if a link on $PATH leads to the program, the path of the link."""
    beside = os.path.join(os.path.dirname(sys.executable), "spamnb")
    found = shutil.which("spamnb")
    if found and os.path.realpath(found) == os.path.realpath(beside):
        return os.path.abspath(found)
    return beside if os.path.exists(beside) else os.path.abspath(found or sys.argv[0])


def variables() -> dict[str, str]:
    return {name: os.path.abspath(os.environ[name]) for name in VARIABLES if os.environ.get(name)}


def quoted(text: str) -> str:
    """Quote a word for a systemd unit: percent signs, backslashes and quotes in it are escaped."""
    plain = text.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def write(path: str, content: bytes) -> None:
    try:
        make_folder(os.path.dirname(path))
        Path(path).write_bytes(content)
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error


def run(*command: str) -> str:
    """Run a command; return why it failed, or "" if it succeeded."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return " ".join(str(error).split())
    return "" if not done.returncode else " ".join(done.stderr.split()) or f"exit code {done.returncode}"
