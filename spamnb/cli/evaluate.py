"""`spamnb evaluate`."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from spamnb.bulk import comparing, mistakes, online
from spamnb.bulk.classifying import Judge
from spamnb.bulk.corpus import Corpus
from spamnb.bulk.crew import size_of
from spamnb.bulk.evaluation import CrossValidation, Evaluation, cross_validated, fold_of, held_out
from spamnb.bulk.index import read_index
from spamnb.bulk.knowledge import Knowledge, most_telling
from spamnb.bulk.metrics import measure
from spamnb.bulk.workers import all_cores
from spamnb.cli.options import (
    Command,
    checked_prior,
    chosen_view,
    cluster_options,
    jobs_option,
    json_option,
    labelled,
    mail_options,
    opened,
    path_type,
    tokenizer_options,
    tokenizer_settings,
    view_options,
    working,
)
from spamnb.cli.outputs import OUTPUT, check_writable, write_files
from spamnb.cli.progress import progress, telling
from spamnb.cli.render import described, print_json, tell_unreadable
from spamnb.cli.tables import as_tsv, comparison_table, show_evaluation
from spamnb.cluster import LOCAL
from spamnb.errors import DataError, UsageError
from spamnb.mail.skipped import failures, passed_over
from spamnb.mail.sources import check
from spamnb.model import DEFAULT_VIEW
from spamnb.tokens.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.evaluation import Judged
    from spamnb.mail.skipped import Unreadable
    from spamnb.model import Model

EXAMPLES = """
spamnb evaluate ham/ spam/
spamnb evaluate --folds 5 --event multinomial ham.mbox.xz spam.mbox.xz
spamnb evaluate --model model.msgpack later-ham/ later-spam/
spamnb evaluate gs://bucket/ham/ gs://bucket/spam/
spamnb evaluate --online --protocol delayed --first 500 ham/ spam/
spamnb evaluate --online --index trec07p/full/index
spamnb evaluate --compare default --compare event=bernoulli,smoothing=0.1 ham/ spam/
spamnb evaluate --compare standard ham/ spam/
spamnb evaluate --report report.html --scores scores.tsv ham/ spam/
spamnb evaluate --json ham/ spam/ | jq .labels.spam.f1
"""


TELLING = 20  # tokens of each label in the report


@click.command(cls=Command, examples=EXAMPLES)
@mail_options
@click.option(
    "--model", type=path_type, metavar="PATH", help="Judge by this model, instead of cross-validating."
)
@click.option(
    "--skip-learned", is_flag=True, help="With --model: leave out what that model has learned already."
)
@click.option("--folds", type=click.IntRange(2, 1000), default=10, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the shuffle into folds.")
@click.option("--group-duplicates", is_flag=True, help="Exact copies of a message into one fold.")
@click.option(
    "--online", "as_it_came", is_flag=True, help="In order of time: judge each message, then learn it."
)
@click.option(
    "--index",
    type=path_type,
    metavar="FILE",
    help="With --online: lines `spam PATH` and `ham PATH`, in order.",
)
@click.option(
    "--protocol",
    type=click.Choice(online.PROTOCOLS),
    default="immediate",
    show_default=True,
    help="With --online: what is learned.",
)
@click.option(
    "--first",
    type=click.IntRange(1),
    default=online.FIRST,
    show_default=True,
    help="Labels of --protocol delayed.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Of --protocol on-error, in nats.",
)
@click.option(
    "--compare", multiple=True, metavar="SETTINGS", help="NAME=VALUE,…; again for each, or `standard`."
)
@view_options
@click.option("--cutoff", metavar="[HAM,]SPAM", help="With --model: scores to decide by.")
@tokenizer_options
@click.option(
    "--mistakes", "most", type=click.IntRange(0), default=10, show_default=True, help="How many to show."
)
@click.option(
    "--scores",
    type=path_type,
    metavar="FILE",
    help="Path, label, score and verdict of each message, as TSV.",
)
@click.option("--report", type=path_type, metavar="FILE", help="All of it as one HTML page, with pictures.")
@jobs_option
@cluster_options
@json_option
def evaluate(
    as_json: bool, scores: str | None, report: str | None, compare: tuple[str, ...], **options: Any
) -> int:
    """How good is the filter on this mail? Precision, recall, F1, and what was mistaken for what.

    Cross-validates: the mail is read once, then each fold is judged by the counts of all the others. With
    --model, judges by a model that was trained on other mail; with --online, as mail comes in.
    """
    task = Task(**options)
    if compare and (scores or report):
        raise UsageError("--scores and --report are for one evaluation, not for --compare")
    check_writable(scores, report)
    try:
        code = task.compare(compare, as_json) if compare else task.evaluate(as_json, scores, report)
    finally:
        unreadable = tell_unreadable(task.unreadable.values(), task.skip_unreadable)
    return code or unreadable


class Task:
    """What is to be evaluated, and how."""

    def __init__(
        self,
        folders: tuple[str, ...],
        ham: tuple[str, ...],
        spam: tuple[str, ...],
        label: tuple[str, ...],
        all_folders: bool,
        model: str | None,
        folds: int,
        seed: int,
        group_duplicates: bool,
        as_it_came: bool,
        index: str | None,
        protocol: str,
        first: int,
        margin: float,
        event: str | None,
        smoothing: str | None,
        prior: str | None,
        tfidf: bool,
        numbers: bool,
        cutoff: str | None,
        most: int,
        jobs: int | None,
        cluster: str | None,
        skip_unreadable: bool,
        skip_learned: bool,
        **settings: Any,
    ) -> None:
        if index is not None:
            if not as_it_came or folders or ham or spam or label:
                raise UsageError("--index goes with --online, and names the mail by itself")
            self.listed = read_index(index)
            self.sources: dict[str, list[str]] = {}
            for name, path in self.listed:
                self.sources.setdefault(name, []).append(path)
        else:
            self.listed = []
            self.sources = labelled(folders, ham, spam, label)
        if len(self.sources) < 2:
            raise UsageError("at least two labels, for instance: spamnb evaluate ham/ spam/")
        self.all_folders = all_folders
        self.paths = [path for many in self.sources.values() for path in many]
        check(self.paths)
        if model is not None and as_it_came:
            raise UsageError("--online starts from nothing; leave --model out")
        if model is None and skip_learned:
            raise UsageError("--skip-learned goes with --model; folds never learn what they judge")
        if model is None and cutoff is not None:
            raise UsageError("--cutoff goes with --model; without one, training finds the cutoffs")
        self.view = chosen_view(event, smoothing, prior, tfidf, numbers)
        given = tokenizer_settings(**settings)
        if model is not None and given:
            raise UsageError("a model has its tokenizer settings; leave them out")
        self.model = opened(model, self.view, cutoff) if model is not None else None
        checked_prior(self.view, self.sources)
        self.settings = self.model.settings if self.model else Settings(**given)
        self.folds, self.seed, self.together = folds, seed, group_duplicates
        self.as_it_came, self.protocol, self.first, self.margin = as_it_came, protocol, first, margin
        self.most = most
        self.jobs = jobs or all_cores()  # for the folds, which are done here
        self.readers = None if cluster not in (None, LOCAL) else jobs
        self.cluster, self.skip_unreadable = cluster, skip_unreadable
        self.skip_learned = skip_learned
        self.unreadable: dict[str, Unreadable] = {}  # by path: mail may be read more than once

    def batches(self, settings: Settings) -> Iterator[Batch]:
        key = self.model.key if self.model else None
        with (
            working(self.paths, self.cluster, self.readers, self.skip_unreadable) as crew,
            progress("reading", lambda: size_of(self.sources, self.all_folders), note=crew.told) as step,
        ):
            for batch in crew.batches(self.sources, settings, key=key, all_folders=self.all_folders):
                self.unreadable |= {one.path: one for one in batch.unreadable}
                yield batch.whole()
                step(batch.size, len(batch))

    def corpus(self, settings: Settings) -> Corpus:
        return Corpus.of(list(self.sources), self.batches(settings))

    def evaluate(self, as_json: bool, scores: str | None, report: str | None) -> int:
        """Show the evaluation and write its files, each whatever becomes of the others."""
        evaluation = self.evaluation()
        try:
            if OUTPUT in (scores, report):
                pass
            elif as_json:
                print_json(as_map(evaluation))
            else:
                show_evaluation(evaluation)
        finally:
            code = write_files(files(evaluation, scores, report))
        return code

    def evaluation(self) -> Evaluation:
        if self.model:
            return self.by_model(self.model)
        corpus = self.corpus(self.settings)
        if self.as_it_came:
            order = (
                online.in_index_order(corpus, self.listed) if self.listed else online.in_time_order(corpus)
            )
            judged, curve = online.online(
                corpus, order, view=self.view, protocol=self.protocol, first=self.first, margin=self.margin
            )
            return self.found(f"online ({self.protocol})", judged, [], copies(corpus), {}, curve)
        assigned = fold_of(corpus, self.folds, self.seed, self.together)
        view = self.view or DEFAULT_VIEW
        judged = cross_validated(corpus, assigned, view, self.jobs)
        folds = CrossValidation(corpus, assigned, view)
        worst = mistakes.by_folds(judged, folds, self.settings, self.most)
        headlines = {
            label: most_telling(folds.whole, view, corpus.tokens, place, TELLING)
            for place, label in enumerate(corpus.labels)
        }
        return self.found(f"in {self.folds} folds", judged, worst, copies(corpus), headlines)

    def by_model(self, model: Model) -> Evaluation:
        labels, batches = list(self.sources), self.batches(self.settings)
        judged, learned = held_out(Judge(model), labels, batches, self.skip_learned)
        if not judged.names and learned:
            raise DataError(f"all {learned:,} messages are learned by the model already; name other mail")
        if not judged.names:
            raise DataError(f"no mail found in {', '.join(self.paths)}")
        worst = mistakes.by_model(judged, model, self.most)
        found = self.found("by a model", judged, worst, 0, Knowledge.of(model, TELLING).telling)
        return replace(found, learned=learned, skipped=self.skip_learned)

    def found(
        self,
        how: str,
        judged: Judged,
        worst: list[Any],
        duplicates: int,
        telling: dict[str, Any],
        curve: list[Any] | None = None,
    ) -> Evaluation:
        figures = measure(
            judged.labels, judged.truth, judged.verdict, judged.score, judged.probability
        ).as_map()
        figures["folds"] = self.folds if how.endswith("folds") else None
        return Evaluation(how, judged, figures, worst, duplicates, telling, curve or [])

    def compare(self, specs: tuple[str, ...], as_json: bool) -> int:
        if self.model or self.as_it_came or self.view:
            raise UsageError("--compare goes with cross-validation, and has its settings in it")
        names = [name for spec in specs for name in (comparing.STANDARD if spec == "standard" else (spec,))]
        candidates = [comparing.candidate(name) for name in dict.fromkeys(names)]
        ways = (self.folds, self.seed, self.together, self.jobs)
        found = telling(comparing.compared(candidates, self.corpus, *ways))
        if as_json:
            print_json([one.as_map() for one in found])
        else:
            comparison_table(list(found), f"{self.folds} folds")
        return 0


def copies(corpus: Corpus) -> int:
    """How many messages are exact copies of another."""
    return len(corpus) - len(set(corpus.digests.tolist()))


def files(evaluation: Evaluation, scores: str | None, report: str | None) -> dict[str, str]:
    """Make the files that were asked for: path and content."""
    made = {}
    if scores:
        made[scores] = as_tsv(evaluation.judged)
    if report:
        from spamnb.report import report as as_page

        made[report] = as_page(evaluation)
    return made


def as_map(evaluation: Evaluation) -> dict[str, Any]:
    judged = evaluation.judged
    return {
        **evaluation.metrics,
        "how": evaluation.how,
        "cutoffs": list(judged.cutoffs) if judged.cutoffs else None,
        "duplicates": evaluation.duplicates,
        "learned": evaluation.learned,
        "mistakes": [asdict(mistake) for mistake in evaluation.mistakes],
        "curve": [asdict(point) for point in evaluation.curve],
        "unreadable": described(failures(judged.unreadable)),
        "passed_over": described(passed_over(judged.unreadable)),
    }
