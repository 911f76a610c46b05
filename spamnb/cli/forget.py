"""`spamnb forget`."""

from __future__ import annotations

import click

from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.training import show_summary
from spamnb.cli.shared.labelled_mail import LabelledMail
from spamnb.cli.shared.options import Command, jobs_option, model_option, path_type
from spamnb.cli.shared.progress import progress
from spamnb.cli.train import only_message
from spamnb.delivery.commands import ANY_LABEL, LearnCommand
from spamnb.history.log import append_lessons
from spamnb.store.stored_model import StoredModel

EXAMPLES = """
spamnb forget message archive.mbox
spamnb forget inbox.mbox:3
spamnb forget - < message
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=path_type)
@model_option
@jobs_option
def forget(paths: tuple[str, ...], model: str, jobs: int | str | None) -> int:
    """Take messages out of the model again, whatever their label. What was not learned changes nothing."""
    mail = LabelledMail((), (), (), jobs=jobs, sources={ANY_LABEL: list(paths)})
    mail.check()
    StoredModel.open(model)  # raises an error that says what to do
    if len(paths) == 1 and (raw := only_message(paths[0])):
        return LearnCommand(ANY_LABEL, model, forget=True).run(raw)
    from spamnb.training import train as training

    with mail.pool() as pool, progress("forgetting", mail.size) as step:
        summary = training.train(
            model,
            mail.sources,
            forget=True,
            pool=pool,
            progress=lambda batch: step(batch.size, len(batch)),
        )
    append_lessons(model, summary.lessons)
    show_summary(summary, mail.sources, model)
    return print_unreadable([*summary.unreadable, *summary.passed_over], say=click.echo)
