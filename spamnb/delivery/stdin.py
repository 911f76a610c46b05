"""One message on standard input, judged or learned: what procmail starts for each mail.

Process start counts here (Python alone needs 14 ms), so a plain call is parsed by this module, without the
command line's libraries; they parse calls with other options, and then come here.
"""

from __future__ import annotations

from spamnb.errors import (
    CannotCreate,
    InputOutputError,
    NoInput,
    NoModel,
    ReaderGone,
    SpamnbError,
    UsageError,
)
from spamnb.files import STDIN, STDOUT, default_model, printable, read_all, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.bayes.verdict import Verdict
    from spamnb.model import Model

FLAGS = {
    "-p": "passthrough",
    "--passthrough": "passthrough",
    "-e": "exit_code",
    "--exit-code": "exit_code",
    "--json": "json",
}
HEADER_STYLES = ("spamnb", "bogofilter", "spamassassin")
# Outcomes of learning, as the command line reports them.
OUTCOME_TEXTS = {
    "learned": "learned",
    "moved": "moved here from another label",
    "known": "already known",
    "forgotten": "forgotten",
    "unknown": "never learned",
    "duplicate": "repeated",
    "conflicting": "left out, being under another label too",
}


class ClassifyCommand:
    """`spamnb classify [-p] [-e] [--json] [--header-style STYLE] [--model PATH]` without a path."""

    def __init__(
        self,
        model: str | None = None,
        passthrough: bool = False,
        exit_code: bool = False,
        json: bool = False,
        header_style: str | None = None,
    ) -> None:
        if passthrough and json:
            raise UsageError("-p passes the message on, --json describes it: one of them")
        if header_style and not passthrough:
            raise UsageError("--header-style is about the header that -p adds")
        self.model = model or default_model()
        self.header_style = header_style or HEADER_STYLES[0]
        self.passthrough = passthrough
        self.exit_code = exit_code
        self.json = json

    def run(self) -> int:
        from spamnb.model import Model

        raw = read_stdin()
        return self.classify(Model.open(self.model), raw)

    def classify(self, model: Model, raw: bytes, path: str = "-", index: int | None = None) -> int:
        verdict = model.classify(raw)
        if self.passthrough:
            from spamnb.delivery.passthrough import passed_through

            write_stdout(passed_through(raw, verdict, self.header_style), is_mail=True)
        else:
            write_stdout(self.line_of(verdict, path, index))
        return verdict_exit_code(verdict.label) if self.exit_code else 0

    def line_of(self, verdict: Verdict, path: str, index: int | None) -> bytes:
        """Line of verdict, score and path, or of one JSON object."""
        if self.json:
            import json

            return json.dumps({"path": path, "index": index, **verdict.as_map()}).encode() + b"\n"
        name = printable(path) if index is None else f"{printable(path)}:{index}"
        return f"{verdict.label}\t{verdict.score:.4f}\t{name}\n".encode()


def verdict_exit_code(label: str) -> int:
    """Exit code of a verdict: 0 for spam only, as a script may throw away what exits with 0."""
    return {"spam": 0, "unsure": 2}.get(label, 1)


ANY_LABEL = "messages"  # in place of a label: to forget a message, none is needed


class LearnCommand:
    """`spamnb train --ham|--spam|--label NAME= - [--model PATH]`, or `spamnb train --forget -`."""

    def __init__(self, label: str, model: str | None = None, forget: bool = False) -> None:
        self.label = label
        self.model = model or default_model()
        self.forget = forget

    @property
    def fits_journal(self) -> bool:
        """Whether a record in the journal is enough; a new label changes the whole model."""
        from spamnb.store.stored_model import labels_of

        try:
            return self.forget or self.label in labels_of(self.model)
        except NoModel:
            return self.label in ("ham", "spam")
        except SpamnbError:
            return True  # learning will report what is wrong

    def run(self) -> int:
        write_stdout(f"{self.label}: 1 {OUTCOME_TEXTS[self.learn()]}\n".encode())
        return 0

    def learn(self) -> str:
        """Learn or forget the message, in a new model if there is none; return the outcome."""
        from spamnb.training.learn import learn

        raw = read_stdin()
        if not raw.strip():
            raise NoInput("-: standard input is empty; a message has text")
        if self.forget:
            return learn(self.model, raw, None)
        try:
            return learn(self.model, raw, self.label)
        except NoModel:
            from spamnb.training.train import create

            try:
                create(self.model, self.label)
            except CannotCreate as error:
                raise CannotCreate(f"{error}; the message was not learned") from error
            return learn(self.model, raw, self.label)


def parse(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Function that runs the delivery asked for; None if the arguments ask for anything else."""
    command, rest = arguments[0] if arguments else "", list(arguments[1:])
    model, flags, label, style = None, set(), None, None
    while rest:
        word = rest.pop(0)
        if word == "--model" and rest:
            model = rest.pop(0)
        elif word.startswith("--model="):
            model = word.removeprefix("--model=")
        elif command == "classify" and word in FLAGS:
            flags.add(FLAGS[word])
        elif command == "classify" and word == "--header-style" and rest and rest[0] in HEADER_STYLES:
            style = rest.pop(0)
        elif command == "train" and word in ("--ham", "--spam") and rest[:1] == ["-"] and label is None:
            label = word.removeprefix("--")
            rest.pop(0)
        elif command == "train" and word == "-" and label is None:
            label = ANY_LABEL
        elif command == "train" and word == "--forget":
            flags.add("forget")
        else:
            return None
    if command == "classify":
        return ClassifyCommand(
            model, "passthrough" in flags, "exit_code" in flags, "json" in flags, style
        ).run
    if command == "train" and label is not None and (label != ANY_LABEL or "forget" in flags):
        learn = LearnCommand(label, model, "forget" in flags)
        return learn.run if learn.fits_journal else None
    return None


def read_stdin() -> bytes:
    try:
        return read_all(STDIN)
    except OSError as error:
        raise InputOutputError(f"cannot read standard input: {error.strerror}") from error


def write_stdout(data: bytes, is_mail: bool = False) -> None:
    """Write an answer. Mail whose reader went away is an error like any other: it must not get lost."""
    try:
        write_all(STDOUT, data)
    except OSError as error:
        raise output_error(error, is_mail) from error


def output_error(error: OSError, is_mail: bool = False) -> InputOutputError:
    """Distinguish a reader that has enough, as `head` does, from output that cannot be written."""
    kind = ReaderGone if isinstance(error, BrokenPipeError) and not is_mail else InputOutputError
    return kind(f"cannot write to standard output: {error.strerror}")
