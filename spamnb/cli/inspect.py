"""`spamnb inspect`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.inspecting.mail import one_message
from spamnb.cli.options import (
    Command,
    jobs_option,
    json_option,
    model_option,
    opened,
    path_type,
    view_options,
)
from spamnb.cli.outputs import OUTPUT, check_writable, write_files
from spamnb.cli.progress import progress
from spamnb.cli.render import print_json
from spamnb.errors import UsageError
from spamnb.workers.processes import all_cores

if TYPE_CHECKING:
    from spamnb.bayes.view import View
    from spamnb.inspection import Explanation
    from spamnb.model import Model

EXAMPLES = """
spamnb inspect
spamnb inspect --top 50
spamnb inspect --plot model.svg
spamnb inspect message.eml
spamnb inspect archive.mbox:3 --html why.html
spamnb inspect - < message
spamnb inspect --token viagra subject:free 'click here'
spamnb inspect --sample spam -n 20 --seed 7
spamnb inspect --diff other.msgpack ~/Maildir/new
spamnb inspect --check
"""
MOST_SAMPLES = 100_000


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[MESSAGE]", type=path_type)
@click.option(
    "--top", type=click.IntRange(0), help="How many tokens to show: 20 of a message, 10 of each label."
)
@click.option("--all", "everything", is_flag=True, help="Of a message, show all that there is to show.")
@click.option(
    "--html", type=path_type, metavar="FILE", help="The same of a message as one HTML page; - prints it."
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="WORD",
    help="What is known of a token; of several. Two neighbours: 'WORD WORD'.",
)
@click.option("--sample", metavar="LABEL", help="Messages made up by the model.")
@click.option("-n", "many", type=click.IntRange(1, MOST_SAMPLES), help="How many; 3 by default.")
@click.option("--seed", type=click.IntRange(0), help="The same seed draws the same messages.")
@click.option(
    "--diff", type=path_type, metavar="OTHER", help="What another model says differently; also of mail."
)
@click.option(
    "--plot", type=path_type, metavar="FILE", help="The model in pictures, as .svg or .png; - prints SVG."
)
@click.option(
    "--check", "verify", is_flag=True, help="Verify the model as a whole; exit code 65 if it is damaged."
)
@model_option
@view_options
@jobs_option
@json_option
def inspect(**options: Any) -> int:
    """What the model knows; of one MESSAGE (- is standard input), why it is judged as it is.

    A message of a mailbox is named as classify names it: archive.mbox:3. With --token, more words may follow;
    with --diff, mail to be judged by both models.
    """
    return Inspection(**options).run()


@dataclass(frozen=True)
class Inspection:
    """One of the things that can be looked at."""

    view: View | None
    names: tuple[str, ...]
    model: str
    top: int | None
    everything: bool
    html: str | None
    tokens: tuple[str, ...]
    sample: str | None
    many: int | None
    seed: int | None
    diff: str | None
    plot: str | None
    verify: bool
    jobs: int | None
    as_json: bool

    def run(self) -> int:
        self.check()
        check_writable(self.html, self.plot)
        if self.verify:
            return self.check_model()
        model = opened(self.model, self.view)
        if self.tokens:
            return self.look_up(model)
        if self.sample is not None:
            return self.draw(model)
        if self.diff is not None:
            return self.compare(model)
        return self.explain(model) if self.names else self.summarise(model)

    def check(self) -> None:
        """Which of the things; more than one makes no sense."""
        asked = {
            "--token": bool(self.tokens),
            "--sample": self.sample is not None,
            "--diff": self.diff is not None,
            "--plot": self.plot is not None,
            "--html": self.html is not None,
            "--check": self.verify,
        }
        named = [name for name, there in asked.items() if there]
        if len(named) > 1:
            raise UsageError(f"{named[0]} or {named[1]}, not both")
        alone = named[0] if named else ""
        if alone in ("--sample", "--plot", "--check") and self.names:
            raise UsageError(f"a message or {alone}, not both")
        if alone == "--token" and "-" in self.names:
            raise UsageError("a message or --token, not both")
        if alone == "--html" and not self.names:
            raise UsageError("--html is a page about a message; name one")
        if alone in ("", "--html") and len(self.names) > 1:
            raise UsageError("one message at a time")
        if alone != "--sample" and (self.many is not None or self.seed is not None):
            raise UsageError("-n and --seed belong to --sample LABEL")
        if self.plot not in (None, OUTPUT) and not str(self.plot).lower().endswith((".svg", ".png")):
            raise UsageError(f"--plot draws .svg or .png, not {self.plot!r}")
        if self.as_json and OUTPUT in (self.html, self.plot):
            raise UsageError(f"{alone} - and --json both write to standard output; name a file")

    def explain(self, model: Model) -> int:
        from spamnb.cli.inspecting.message import TOP, show_message
        from spamnb.inspection import described, explain

        (path,) = self.names
        why = explain(model, one_message(path))
        try:
            if self.as_json:
                print_json(described(why, path))
            elif self.html != OUTPUT:
                show_message(why, TOP if self.top is None else self.top, self.everything)
        finally:
            code = self.write_page(why, path)
        return code

    def write_page(self, why: Explanation, path: str) -> int:
        if not self.html:
            return 0
        from spamnb.report.message import explained

        return write_files({self.html: explained(why, path)})

    def summarise(self, model: Model) -> int:
        from spamnb.cli.inspecting.summary import TOP, show_summary
        from spamnb.inspection.knowledge import Knowledge

        known = Knowledge.of(model, TOP if self.top is None else self.top)
        drawn, picture = self.draw_plot(model, self.plot) if self.plot else ({}, {})
        try:
            if self.as_json:
                print_json(known.as_map() | drawn)
            elif self.plot != OUTPUT:
                show_summary(known)
        finally:
            code = write_files(picture)
        return code

    def draw_plot(self, model: Model, path: str) -> tuple[dict[str, Any], dict[str, str | bytes]]:
        """Draw the picture; returns what is drawn, and the file to be written."""
        from spamnb.inspection.portrait import Portrait
        from spamnb.report.portrait import portrait

        found = Portrait.of(model)
        drawn = {"plot": found.as_map()}
        svg = portrait(found, f"spamnb: {model.stored.path}")
        if path.lower().endswith(".png"):
            from spamnb.report.png import png

            return drawn, {path: png(svg)}
        return drawn, {path: svg}

    def check_model(self) -> int:
        from spamnb.cli.inspecting.checked import show_checked
        from spamnb.inspection.check import check

        def size() -> int:
            return os.path.getsize(self.model) if os.path.isfile(self.model) else 0

        with progress("checking", size, unit="entries") as step:
            found = check(self.model, step)
        return show_checked(found, self.as_json)

    def look_up(self, model: Model) -> int:
        from spamnb.cli.inspecting.tokens import look_up

        return look_up(model, (*self.tokens, *self.names), self.as_json)

    def draw(self, model: Model) -> int:
        from spamnb.cli.inspecting.samples import MANY, show_samples

        assert self.sample is not None
        many = MANY if self.many is None else self.many
        return show_samples(model, self.view, self.sample, many, self.seed, self.everything, self.as_json)

    def compare(self, model: Model) -> int:
        from spamnb.cli.inspecting.differences import TOP, show_difference

        assert self.diff is not None
        other = opened(self.diff, self.view)
        top = TOP if self.top is None else self.top
        return show_difference(model, other, self.names, top, self.jobs or all_cores(), self.as_json)
