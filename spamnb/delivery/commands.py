"""One message, on standard input or in a file, judged or learned: what procmail starts for each mail.

Process start counts here (Python alone needs 14 ms), so a plain call is parsed by this module, without the
command line's libraries; they parse calls with other options, and then come here. It loads few modules: even
`__future__` would take 0.2 ms, so hints are quoted where they need it.
"""

import os

from spamnb.configuration.current import Configuration, load, model_path
from spamnb.errors import (
    CannotCreate,
    InputOutputError,
    NoInput,
    NoModel,
    ReaderGone,
    SpamnbError,
    UsageError,
)
from spamnb.files import (
    STDIN,
    STDOUT,
    announce_stdin,
    complain,
    model_file,
    printable,
    read_all,
    state_folder,
    write_all,
)
from spamnb.labels import HAM, LABELS, SPAM, UNSURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.history.log import HistoryLog
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

# By command: options without a value, and with one; each is the argument of its name.
FLAGS = {
    "classify": "--passthrough --exit-code --json --history --syslog --no-base".split(),
    "train": [],
}
VALUES = {
    "classify": "--model --fallback --header-style --history-days --history-size".split(),
    "train": ["--model"],
}
SHORT = {"-p": "--passthrough", "-e": "--exit-code"}
# Outcomes of learning, as the command line reports them.
OUTCOME_TEXTS = {
    "learned": "learned",
    "moved": "moved here from another label",
    "known": "already known",
    "forgotten": "forgotten",
    "unknown": "never learned",
    "duplicate": "repeated",
    "conflicting": "left out, because they are also under another label",
}


class ClassifyCommand:
    """`spamnb classify [-p] [-e] [--json] [--header-style X] [--history] [--syslog] [--model M] [FILE]`.

    By the fallback, if there is one, where the model is missing or cannot be read.
    """

    def __init__(
        self,
        model: str | None = None,
        passthrough: bool = False,
        exit_code: bool = False,
        json: bool = False,
        header_style: str | None = None,
        history: bool = False,
        history_days: str | None = None,
        history_size: str | None = None,
        syslog: bool = False,
        fallback: str | None = None,
        no_base: bool = False,
    ) -> None:
        if passthrough and json:
            raise UsageError("-p and --json cannot be combined")
        if header_style and not passthrough:
            raise UsageError("--header-style needs -p")
        self.configuration = load()
        self.model = model_file(model or model_path(self.configuration))
        self.fallback = fallback and model_file(fallback)
        self.header_style = header_style or self.configuration["header_style"]
        self.syslog = syslog or self.configuration["syslog"]
        self.passthrough = passthrough
        self.exit_code = exit_code
        self.json = json
        self.layered = not no_base
        self.history = open_history(history, history_days, history_size, self.configuration)

    def run(self, path: str = "-", raw: bytes | None = None) -> int:
        """Judge a message: that on standard input, or one from a file, which has been read."""
        from spamnb.model import Model

        if raw is None:
            raw = read_stdin()
        try:
            try:
                judged = self.judge(Model.open(self.model, layered=self.layered), raw)
            except SpamnbError as error:
                self.fall_back(error)
                judged = self.judge(Model.open(self.model, layered=self.layered), raw)
        except NoModel:
            from spamnb.reading.envelope import read_envelope

            envelope = read_envelope(raw)
            verdict = verdict_without_model(self.configuration, envelope)
            if verdict is None:
                raise
            judged = verdict, envelope
        return self.answer(*judged, raw, path)

    def fall_back(self, error: SpamnbError) -> None:
        """Go on with the other model after an error of the first, and say so; raise it if there is none.

        That the first is missing is no news: most users of a machine may have none.
        """
        if not self.fallback or isinstance(error, UsageError):
            raise error
        if not isinstance(error, NoModel):
            complain(f"{error} (judging by {self.fallback})")
        self.model, self.fallback = self.fallback, None

    def classify(self, model: "Model", raw: bytes, path: str = "-", index: int | None = None) -> int:
        return self.answer(*self.judge(model, raw), raw, path, index)

    def judge(self, model: "Model", raw: bytes) -> "tuple[Verdict, Envelope | None]":
        """Judge a message, by the lists too; return its envelope if something has a use for it."""
        from spamnb.reading.message import read

        message = read(raw)
        verdict = model.classify_message(message)
        if not (self.syslog or self.configuration.senders):
            return verdict, None
        from spamnb.reading.envelope import envelope_of

        envelope = envelope_of(message)
        return self.configuration.decide(verdict, envelope), envelope

    def answer(
        self,
        verdict: "Verdict",
        envelope: "Envelope | None",
        raw: bytes,
        path: str,
        index: int | None = None,
    ) -> int:
        """Write the verdict on a message, as it was asked for, and return the exit code."""
        if self.passthrough:
            from spamnb.passthrough import passed_through

            header, tag = self.configuration["header"], self.configuration["subject_tag"]
            write_stdout(passed_through(raw, verdict, self.header_style, header, tag), is_mail=True)
        else:
            write_stdout(self.line_of(verdict, path, index))
        if self.history:
            self.history.append(raw, verdict, self.model, "classify")
        if self.syslog and envelope:
            from spamnb.delivery.log_line import write_syslog

            write_syslog(verdict, len(raw), envelope)
        return verdict_exit_code(verdict) if self.exit_code else 0

    def line_of(self, verdict: "Verdict", path: str, index: int | None) -> bytes:
        """Line of verdict, score and path, or of one JSON object."""
        if self.json:
            import json

            return json.dumps({"path": path, "index": index, **verdict.as_map()}).encode() + b"\n"
        from spamnb.bayes.verdict import score_text

        name = printable(path) if index is None else f"{printable(path)}:{index}"
        return f"{verdict.label}\t{score_text(verdict.score)}\t{name}\n".encode()


def open_history(
    wanted: bool, days: str | None, size: str | None, configuration: Configuration
) -> "HistoryLog | None":
    """Open the history that verdicts are appended to, if it is wanted here or by the configuration."""
    if wanted or configuration["history"]:
        from spamnb.history.log import HistoryLog

        return HistoryLog(*history_limits(days, size, configuration))
    if days or size:
        raise UsageError("--history-days and --history-size need --history")
    return None


def has_history() -> bool:
    """Tell whether this user keeps a history."""
    try:
        return os.path.isdir(state_folder("history"))
    except NoInput:
        return False  # for lack of a home


def history_limits(days: str | None, size: str | None, configuration: Configuration) -> tuple[str, str]:
    """Tell for how long messages are kept and how much of them: as asked for here, else as configured."""
    from spamnb.history.log import DAYS, SIZE

    kept, most = configuration["history_days"] or DAYS, configuration["history_size"] or SIZE
    return str(kept) if days is None else days, most if size is None else size


def verdict_without_model(configuration: Configuration, envelope: "Envelope") -> "Verdict | None":
    """Judge a message by its sender alone, if it is listed: the lists hold before anything is learned."""
    from spamnb.bayes.verdict import Verdict

    verdict = configuration.decide(Verdict(UNSURE, 0.0, 0.5, {HAM: 0.5, SPAM: 0.5}, ()), envelope)
    return verdict if verdict.reason else None


def verdict_exit_code(verdict: "Verdict") -> int:
    """Exit code of a verdict: 0 for spam only, as a script may throw away what exits with 0."""
    return {True: 0, False: 1, None: 2}[verdict.is_spam]


ANY_LABEL = "messages"  # in place of a label: to forget a message, none is needed


class LearnCommand:
    """`spamnb train --ham|--spam|--label NAME= FILE|- [--model PATH]`, or `spamnb forget FILE|-`."""

    def __init__(
        self,
        label: str,
        model: str | None = None,
        forget: bool = False,
        base: str | None = None,
    ) -> None:
        """`base`, if given, is that of a new model."""
        self.label = label
        self.base = base
        self.configuration = load()
        self.model = model_file(model or model_path(self.configuration))
        self.forget = forget

    @property
    def fits_journal(self) -> bool:
        """Whether a record in the journal is enough; a new label changes the whole model."""
        from spamnb.store.stored_model import labels_of

        try:
            return self.forget or self.label in labels_of(self.model)
        except NoModel:
            return self.label in LABELS
        except SpamnbError:
            return True  # learning will report what is wrong

    def run(self, raw: bytes) -> int:
        outcome = self.teach(raw)
        write_stdout(f"{self.label}: 1 {OUTCOME_TEXTS[outcome]}\n".encode())
        return 0

    def teach(self, raw: bytes) -> str:
        """Learn or forget the message, and note in the history, if there is one, that a person said so."""
        if not has_history():
            return self.learn(raw)
        from spamnb.history.log import append_lessons, digest_of
        from spamnb.training.learn import learned_label

        try:
            before = learned_label(self.model, raw)
        except SpamnbError:
            before = None  # there is no model yet, or learning will report what is wrong
        outcome = self.learn(raw)
        if outcome in ("learned", "moved", "forgotten"):
            lesson = before, None if self.forget else self.label, digest_of(raw).to_bytes(8, "little")
            append_lessons(self.model, [lesson])
        return outcome

    def learn(self, raw: bytes) -> str:
        """Learn or forget the message, in a new model if there is none; return the outcome."""
        from spamnb.training.learn import learn

        if self.forget:
            return learn(self.model, raw, None)
        try:
            return learn(self.model, raw, self.label)
        except NoModel:
            from spamnb.configuration.quantities import parse_percentage
            from spamnb.training.train import create

            configured = self.configuration["ham_loss"]
            ham_loss = parse_percentage(configured) if configured else None
            try:
                create(self.model, self.label, ham_loss=ham_loss, base=self.base)
            except CannotCreate as error:
                raise CannotCreate(f"{error}; the message was not learned") from error
            return learn(self.model, raw, self.label)


def parse(arguments: "Sequence[str]") -> "Callable[[], int] | None":
    """Function that runs the delivery asked for; None if the arguments ask for anything else."""
    command, rest = arguments[0] if arguments else "", list(arguments[1:])
    if command not in FLAGS:
        return None
    path, label = None, ANY_LABEL
    options: dict[str, Any] = {}
    while rest:
        word = rest.pop(0)
        option, equals, value = SHORT.get(word, word).partition("=")
        argument = option[2:].replace("-", "_")
        if option in FLAGS[command] and not equals:
            options[argument] = True
        elif option in VALUES[command] and (equals or rest):
            options[argument] = value if equals else rest.pop(0)
        elif command == "train" and word in ("--ham", "--spam") and rest and path is None:
            label, path = word.removeprefix("--"), rest.pop(0)
        elif path is None and (not word.startswith("-") or (command == "train" and word == "-")):
            path = word
        else:
            return None
    if command == "classify":
        if not is_header_style(options.get("header_style")):
            return None
        classify = ClassifyCommand(**options)
        if path is None:
            return classify.run
        if "://" not in classify.model and (raw := message_in(path, classify.passthrough)):
            return lambda: classify.run(path, raw)
    elif path is not None and label != ANY_LABEL:
        learn = LearnCommand(label, **options)
        if learn.fits_journal and (raw := message_in(path)):
            return lambda: learn.run(raw)
    return None


def message_in(path: str, whole: bool = False) -> bytes | None:
    """Read the only message of a file; most deliveries come on standard input, and need no such reader."""
    from spamnb.delivery.only_message import read_only_message

    return read_only_message(path, whole)


def is_header_style(name: str | None) -> bool:
    """Tell whether there is such a style; if none is asked for, what knows them is not loaded."""
    if name is None:
        return True
    from spamnb.passthrough import STYLES

    return name in STYLES


def read_stdin(what: str = "a message") -> bytes:
    announce_stdin(what)
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
