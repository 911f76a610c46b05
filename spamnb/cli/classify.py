"""`spamnb classify`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from spamnb.bayes.view import View
from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.shared.help import rare_option
from spamnb.cli.shared.options import (
    Command,
    Decorated,
    local_jobs_option,
    open_model,
    path_type,
    view_option,
)
from spamnb.cli.shared.progress import progress
from spamnb.core.native import read as read_message
from spamnb.delivery.commands import CLASSIFY, ClassifyCommand, read_stdin, write_stdout
from spamnb.errors import DataError, NoInput, SpamnbError, UsageError
from spamnb.mailboxes.chunks import RawMessage, file_blocks, has_several
from spamnb.mailboxes.folders import is_folder
from spamnb.mailboxes.skipped import Missing, SkippedMail, Unreadable
from spamnb.mailboxes.sources import check, is_little, messages, split_number, total_size
from spamnb.mailboxes.streams import decompressed, decompressor_for, reason_of
from spamnb.reading.envelope import envelope_of
from spamnb.workers.judging import judge_mail

if TYPE_CHECKING:
    from spamnb.model import Model
    from spamnb.workers.judging import Judged

EXAMPLES = """
spamnb classify < message
spamnb classify -p < message > message-with-header
spamnb classify -p --header-style bogofilter < message
spamnb classify -p --history < message
spamnb classify ~/Maildir/new archive.mbox.xz
spamnb classify --json inbox.mbox
spamnb classify inbox.mbox:3
find ~/Maildir -type f -print0 | spamnb classify -0
spamnb classify 'sftp://host/archive/**/*.mbox'
printf 'review us now' | spamnb classify --event bernoulli --json
"""
# Up to so many bytes, messages are judged one by one: loading numpy and the whole model takes 0.3 s.
LITTLE, LITTLE_FILE = 1 << 18, 5000
ONE_AT_A_TIME = "-p, -e and --history take one message at a time"


def delivery_options(command: Decorated) -> Decorated:
    """Add the options in the table CLASSIFY to a command; the parser without click uses this table, too."""
    for names, value, text in reversed(CLASSIFY):
        kind = path_type if value == "PATH" else None
        how: dict[str, Any] = {"metavar": value, "type": kind} if value else {"is_flag": True}
        command = click.option(*names.split(), help=text, **how)(command)
    return command


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=path_type)
@delivery_options
@click.option("-0", "--null", is_flag=True, help="Read paths from standard input, as from find -print0.")
@view_option
@rare_option("--cutoff", metavar="[HAM,]SPAM", help="Judge scores up to HAM as ham, from SPAM on as spam.")
@local_jobs_option
def classify(
    paths: tuple[str, ...],
    null: bool,
    cutoff: str | None,
    jobs: int | None,
    view: View | None,
    **options: Any,
) -> int:
    """Judge messages: print verdict, score and path of each. Without PATH, read one from standard input.

    The higher the score, the more certainly a message is spam. With an event model of the textbooks
    (--event bernoulli …), the verdict is the most probable label, with its probability. On a
    terminal, messages are shown as a table.
    """
    unreadable: list[Unreadable] = []
    is_alone = options["passthrough"] or options["exit_code"] or options["history"]
    command = ClassifyCommand(**options)
    if null:
        if paths or is_alone:
            raise UsageError("-0 cannot be combined with paths, -p, -e or --history")
        paths = names_on_stdin(unreadable)
    try:
        opened = open_model(command.model, view, cutoff)
    except SpamnbError as error:
        command.fall_back(error)
        opened = open_model(command.model, view, cutoff)
    if not null and (not paths or paths == ("-",)):
        return command.classify(opened, read_stdin())
    check(paths)
    if command.passthrough:
        return command.classify(opened, whole_file(paths))
    if is_alone:
        found = only_message(paths)
        return command.classify(opened, found.data, found.path, found.index)
    table = None
    if sys.stdout.isatty() and not command.json:
        from spamnb.cli.render.verdicts import VerdictTable

        table = VerdictTable()
    configuration = command.configuration
    may_decide = configuration.senders is not None or configuration.has_people(opened.stored)
    envelopes = table is not None or may_decide
    for verdicts, failed in judgements(opened, paths, envelopes, jobs):
        for path, index, verdict, envelope in verdicts:
            if envelope:
                configuration.decide(verdict, envelope, opened.stored)
            if envelope and table:
                table.add(path, index, verdict, envelope.address, envelope.subject)
        if not table:
            write_stdout(b"".join(command.line_of(verdict, path, at) for path, at, verdict, _ in verdicts))
        unreadable += failed
    if table:
        table.print_totals()
    return print_unreadable(unreadable)


def judgements(
    model: Model, paths: Sequence[str], envelopes: bool, jobs: int | None
) -> Iterator[tuple[list[Judged], list[Unreadable]]]:
    """Judge the mail at `paths`, in order; yield pairs of lists: of judged mail, and of unreadable mail."""
    if is_little(paths, LITTLE, LITTLE_FILE):
        for raw in messages(paths):
            if isinstance(raw, Unreadable):
                yield [], [raw]
            else:
                message = read_message(raw.data)
                envelope = envelope_of(message) if envelopes else None
                yield [(raw.path, raw.index, model.classify_message(message), envelope)], []
        return
    with progress("classifying", lambda: total_size(paths), among_lines=True) as step:
        for judged, failed, size in judge_mail(model, paths, jobs, envelopes):
            yield judged, failed
            step(size, len(judged))


def names_on_stdin(missing: list[Unreadable]) -> tuple[str, ...]:
    """Read paths, separated by NUL, from standard input; return those that exist, add others to `missing`."""
    found = []
    for name in filter(None, map(os.fsdecode, read_stdin("paths").split(b"\0"))):
        try:
            check([name])
            found.append(name)
        except SpamnbError as error:
            missing.append(Missing(name, str(error).removeprefix(f"{name}: ")))
    return tuple(found)


def only_message(paths: tuple[str, ...]) -> RawMessage:
    """Return the only message at `paths`; raise an error if there are several or none."""
    mail = (raw for raw in messages(paths) if not isinstance(raw, SkippedMail))
    found = list(zip(mail, range(2), strict=False))
    for raw, _ in found:
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if len(found) == 1:
            return raw
    raise UsageError(ONE_AT_A_TIME) if found else NoInput(f"{paths[0]}: contains no message")


def whole_file(paths: tuple[str, ...]) -> bytes:
    """Return all bytes of a file, even its envelope line (`From …`), so that `-p` prints the whole file."""
    path = paths[0]
    if len(paths) > 1 or is_folder(path):
        raise UsageError(ONE_AT_A_TIME)
    if split_number(path)[0]:
        return only_message(paths).data
    try:
        data = b"".join(file_blocks(path))
    except OSError as error:
        raise NoInput(f"{path}: {reason_of(error)}") from error
    if decompressor_for(data[:10]):
        try:
            sum(map(len, decompressed(iter([data]))))
        except OSError as error:
            raise DataError(f"{path}: {reason_of(error)}") from error
        raise UsageError(f"{path}: is compressed, and -p cannot add headers to it; unpack it first")
    if has_several(path, data):
        raise UsageError(f"{path}: a mailbox with several messages; {ONE_AT_A_TIME}")
    return data
