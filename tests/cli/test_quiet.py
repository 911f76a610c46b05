"""`-q` of all commands: answers and errors are printed; progress, hints and summaries are not."""

import shutil

import click
import pytest
from helpers.screens import on_a_terminal

from spamnb.cli import COMMANDS, main
from spamnb.cli.shared.help import QUIET
from spamnb.errors import NoModel


def every_command():
    top = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(top, name)
        yield from command.commands.values() if isinstance(command, click.Group) else (command,)


@pytest.mark.parametrize("command", [*every_command()], ids=lambda command: command.name)
def test_every_command_has_it(command):
    assert QUIET in command.params


@pytest.mark.parametrize(
    "words",
    [
        "train --model MODEL HAM SPAM",
        "train --model MODEL --spam MESSAGE",
        "train --model MODEL --forget MESSAGE",
        "train --model MODEL --ham-loss 1%",
        "prune --model MODEL",
        "merge --fresh OTHER MODEL",
        "import --fresh --model OTHER BACKUP",
        "config --check",
        "history --prune",
    ],
)
def test_what_is_done_is_done_silently(spamnb, own, mail, tmp_path, words):
    backup = tmp_path / "backup"
    backup.write_bytes(spamnb("export", "-q", "--model", own).succeeds().out)
    message = f"{mail.spam}/03"
    names = {"MODEL": own, "OTHER": tmp_path / "other", "BACKUP": backup, "MESSAGE": message}
    names |= {"HAM": mail.ham, "SPAM": mail.spam}
    command = [names.get(word, word) for word in words.split()]
    done = spamnb(*command, "-q").succeeds()
    assert (done.out, done.err) == (b"", b"")


@pytest.mark.parametrize(
    "words",
    [
        "classify --model MODEL MESSAGE",
        "classify --model MODEL HAM",
        "inspect --model MODEL MESSAGE",
        "inspect --model MODEL --sample spam --seed 1",
        "inspect --model MODEL --check",
        "evaluate --folds 2 --jobs 1 HAM SPAM",
        "export --model MODEL",
        "config",
        "completion bash",
        "completion zsh",
        "completion fish",
        "prune --dry-run --json --model MODEL",
        "history --prune --json",
    ],
)
def test_what_is_asked_for_is_told(spamnb, own, mail, words):
    names = {"MODEL": own, "MESSAGE": f"{mail.spam}/03", "HAM": mail.ham, "SPAM": mail.spam}
    command = [names.get(word, word) for word in words.split()]
    quiet, usual = spamnb(*command, "-q").succeeds(), spamnb(*command).succeeds()
    assert quiet.out == usual.out != b""
    assert quiet.err == b""


def test_hints_are_not_told(spamnb, mail, tmp_path):
    folder = tmp_path / "mail"
    shutil.copytree(mail.spam, folder)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert b"passed over" in spamnb("classify", folder).err
    assert spamnb("classify", "-q", folder).succeeds().err == b""
    assert b"the first of several" in spamnb("inspect", folder).err
    assert spamnb("inspect", "-q", folder).succeeds().err == b""


@pytest.mark.parametrize("words", ["classify --model", "prune --model", "export --model"])
def test_errors_are_told(spamnb, tmp_path, words):
    spamnb(*words.split(), tmp_path / "missing", "-q").fails(NoModel.exit_code, "missing")


def test_neither_progress_nor_totals_on_a_terminal(spamnb, own, mail):
    usual, _ = on_a_terminal(spamnb, "classify", "--model", own, mail.ham, patience=-1)
    quiet, code = on_a_terminal(spamnb, "classify", "-q", "--model", own, mail.ham, patience=-1)
    assert code == 0
    assert "messages: " in usual
    assert "messages: " not in quiet
    screen, code = on_a_terminal(spamnb, "inspect", "-q", "--check", "--model", own, patience=-1)
    assert code == 0
    assert "checking" not in screen
