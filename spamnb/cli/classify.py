"""`spamnb classify`."""

import click

from spamnb.bayes.classifier import View
from spamnb.cli.options import (
    Command,
    cluster_options,
    history_options,
    jobs_option,
    json_option,
    model_option,
    open_model,
    path_type,
    view_options,
)
from spamnb.cli.progress import progress
from spamnb.cli.render.notices import print_unreadable
from spamnb.delivery import HEADER_STYLES, ClassifyCommand, read_stdin, write_stdout
from spamnb.errors import DataError, NoInput, UsageError
from spamnb.mailboxes import mbox
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.folders import in_maildir
from spamnb.mailboxes.skipped import PassedOver, Unreadable
from spamnb.mailboxes.sources import check, is_little, messages, read, split_number, store_for, total_size
from spamnb.mailboxes.stores import FOLDER
from spamnb.mailboxes.streams import decompressed, decompressor_for, reason_of
from spamnb.workers import open_judges

EXAMPLES = """
spamnb classify < message
spamnb classify -p < message > message-with-header
spamnb classify -p --header-style bogofilter < message
spamnb classify -p --history < message
spamnb classify ~/Maildir/new archive.mbox.xz
spamnb classify --json inbox.mbox
spamnb classify inbox.mbox:3
spamnb classify 'sftp://host/archive/**/*.mbox'
printf 'review us now' | spamnb classify --event bernoulli --smoothing 0 --json
"""
# Bytes up to which messages are judged one by one: to read the whole model, and numpy first, takes 0.3 s.
LITTLE, LITTLE_FILE = 1 << 18, 5000
ONE_AT_A_TIME = "-p, -e and --history are for one message at a time"


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=path_type)
@click.option("-p", "--passthrough", is_flag=True, help="The message itself, with an X-Spamnb header.")
@click.option("-e", "--exit-code", is_flag=True, help="Exit with 0 for spam, 2 for unsure, 1 for all else.")
@click.option(
    "--header-style", type=click.Choice(HEADER_STYLES), help="The header -p adds: ours, or another filter's."
)
@history_options
@json_option
@model_option
@view_options
@click.option("--cutoff", metavar="[HAM,]SPAM", help="Scores: up to the first ham, from the second on spam.")
@jobs_option
@cluster_options
def classify(
    paths: tuple[str, ...],
    passthrough: bool,
    exit_code: bool,
    header_style: str | None,
    history: bool,
    history_days: str | None,
    history_size: str | None,
    as_json: bool,
    model: str,
    cutoff: str | None,
    jobs: int | None,
    cluster: str | None,
    skip_unreadable: bool,
    view: View | None,
) -> int:
    """Judge messages: verdict, score and path on a line each. Without a path, one message on standard input.

    The score rises with spamminess without end. --event judges by a textbook's model instead of the
    default, by argmax and its own posterior.
    """
    kept = (history, history_days, history_size)
    command = ClassifyCommand(model, passthrough, exit_code, as_json, header_style, *kept)
    opened = open_model(model, view, cutoff)
    if not paths or paths == ("-",):
        return command.classify(opened, read_stdin())
    check(paths)
    if passthrough:
        return command.classify(opened, whole_file(paths))
    if exit_code or history:
        found = only_message(paths)
        return command.classify(opened, found.data, found.path, found.index)
    unreadable: list[Unreadable] = []
    if cluster is None and is_little(paths, LITTLE, LITTLE_FILE):
        for raw in messages(paths):
            if isinstance(raw, Unreadable):
                unreadable.append(raw)
            else:
                command.classify(opened, raw.data, raw.path, raw.index)
        return print_unreadable(unreadable, skip_unreadable)
    with (
        open_judges(paths, cluster, jobs, skip_unreadable) as pool,
        progress("classifying", lambda: total_size(paths), among_lines=True, note=pool.status) as step,
    ):
        for verdicts, failed, size in pool.verdicts(opened, paths):
            write_stdout(b"".join(command.line_of(verdict, path, index) for path, index, verdict in verdicts))
            unreadable += failed
            step(size, len(verdicts))
    return print_unreadable(unreadable, skip_unreadable)


def only_message(paths: tuple[str, ...]) -> RawMessage:
    """Read the one message that is there; refuse several."""
    mail = (raw for raw in messages(paths) if not isinstance(raw, PassedOver))
    found = list(zip(mail, range(2), strict=False))
    for raw, _ in found:
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if len(found) == 1:
            return raw
    raise UsageError(ONE_AT_A_TIME)


def whole_file(paths: tuple[str, ...]) -> bytes:
    """Read a file as it is, envelope line and all: what is passed on must not lack a byte."""
    path = paths[0]
    if len(paths) > 1 or store_for(path).kind(path) == FOLDER:
        raise UsageError(ONE_AT_A_TIME)
    if split_number(path)[0]:
        return only_message(paths).data
    try:
        data = b"".join(read(path))
    except OSError as error:
        raise NoInput(f"{path}: {reason_of(error)}") from error
    if decompressor_for(data[:10]):
        try:
            sum(map(len, decompressed(iter([data]))))
        except OSError as error:
            raise DataError(f"{path}: {reason_of(error)}") from error
        raise UsageError(f"{path}: compressed, and -p changes no byte; unpack it first")
    if mbox.is_envelope(data[: mbox.MAX_ENVELOPE]) and not in_maildir(store_for(path), path):
        found = zip(mbox.messages([data]), range(2), strict=False)
        if len(list(found)) > 1:
            raise UsageError(f"{path}: a mailbox of several messages; {ONE_AT_A_TIME}")
    return data
